-- One row per unit that can be reserved now. The key is the whole row: a locking read takes one record lock per unit, where an
-- auto-increment key with a secondary index would take two.
CREATE TABLE IF NOT EXISTS reservation_units (
  shop_id            BIGINT UNSIGNED NOT NULL,
  inventory_item_id  BIGINT UNSIGNED NOT NULL,
  inventory_group_id BIGINT UNSIGNED NOT NULL,
  id                 BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (shop_id, inventory_item_id, inventory_group_id, id)
) ENGINE=InnoDB;

-- One row per reservation, kept after its end, so that a repeated call gets the answer of the first.
CREATE TABLE IF NOT EXISTS reservations (
  shop_id        BIGINT UNSIGNED NOT NULL,
  reservation_id BIGINT UNSIGNED NOT NULL,
  state          ENUM('reserved', 'claimed', 'released', 'expired') NOT NULL,
  expires_at     DATETIME(6) NOT NULL,
  PRIMARY KEY (shop_id, reservation_id),
  KEY by_expiry (state, expires_at)
) ENGINE=InnoDB;

-- What a reservation that has not ended holds.
CREATE TABLE IF NOT EXISTS reserved_quantities (
  shop_id            BIGINT UNSIGNED NOT NULL,
  reservation_id     BIGINT UNSIGNED NOT NULL,
  inventory_item_id  BIGINT UNSIGNED NOT NULL,
  inventory_group_id BIGINT UNSIGNED NOT NULL,
  quantity           INT NOT NULL,
  PRIMARY KEY (shop_id, reservation_id, inventory_item_id, inventory_group_id)
) ENGINE=InnoDB;

-- Stock. At every commit: on_hand = unissued + rows in reservation_units + reserved quantities.
CREATE TABLE IF NOT EXISTS inventory_ledger (
  shop_id            BIGINT UNSIGNED NOT NULL,
  inventory_item_id  BIGINT UNSIGNED NOT NULL,
  inventory_group_id BIGINT UNSIGNED NOT NULL,
  on_hand            BIGINT NOT NULL,                    -- owned and not sold
  unissued           BIGINT NOT NULL,                    -- part of on_hand that has no unit row and is in no reservation
  next_unit_id       BIGINT UNSIGNED NOT NULL DEFAULT 1, -- ids are never used twice: an insert waits for no deleted row
  PRIMARY KEY (shop_id, inventory_item_id, inventory_group_id)
) ENGINE=InnoDB;
