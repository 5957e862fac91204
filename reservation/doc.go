// Package reservation keeps the promise that what a buyer put into a checkout is there when they pay.
//
// A cart is reserved as a whole or not at all, then claimed (sold) or released (given back), each exactly once however
// often it is asked for. The reservation id is the buyer's: repeating a call with the same id repeats its answer.
//
//	store := mysqlstore.New(db, mysqlstore.DefaultConfig())
//	engine, err := reservation.New(store, reservation.DefaultConfig())
//	err = engine.Reserve(ctx, reservation.Cart{ShopID: 1, ReservationID: 42, Lines: []reservation.Line{{ItemID: 7, GroupID: 1, Quantity: 2}}})
//	err = engine.Claim(ctx, 1, 42)
//
// The package knows no database; its stores do. Their statements carry conn_tag comments, as those of any application should.
package reservation
