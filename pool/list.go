package pool

// node links one item into a list. It is embedded in the item, so that moving between lists never allocates and
// leaving from the middle takes no search.
type node[T any] struct {
	prev, next *node[T]
	item       T
}

// list is a doubly linked list of embedded nodes; its zero value is empty. A node is in at most one list at a time.
type list[T any] struct {
	front, back *node[T]
	len         int
}

func (l *list[T]) pushFront(n *node[T]) { l.insertAfter(nil, n) }

// insertAfter puts n behind mark, or at the front when mark is nil.
func (l *list[T]) insertAfter(mark, n *node[T]) {
	n.prev = mark
	if mark == nil {
		n.next, l.front = l.front, n
	} else {
		n.next, mark.next = mark.next, n
	}
	if n.next == nil {
		l.back = n
	} else {
		n.next.prev = n
	}
	l.len++
}

func (l *list[T]) remove(n *node[T]) {
	if n.prev == nil {
		l.front = n.next
	} else {
		n.prev.next = n.next
	}
	if n.next == nil {
		l.back = n.prev
	} else {
		n.next.prev = n.prev
	}
	n.prev, n.next = nil, nil
	l.len--
}
