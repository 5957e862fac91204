package wire

// EOFLen is the length of an EOF packet's payload.
const EOFLen = 5

// EndGrowth is how much longer the packet that stands for an EOF is.
const EndGrowth = 2

// interim reports whether the EOF packet just read stands behind definitions that more follows on. A client with
// DeprecateEOF counts the definitions instead. Behind a cursor's definitions nothing follows, and COM_FIELD_LIST does not
// say how many there are: there an end is needed.
func (r *Reply) interim() bool {
	switch r.state {
	case stateParamDefs:
		return true
	case stateDefs:
		return r.shape == ShapePrepare || r.OK.Status&StatusCursorExists == 0
	}
	return false
}

// Drop notes that the latest packet is kept from the client: in all that follow Next writes the number that the client
// expects.
func (r *Reply) Drop() { r.dropped++ }

// Dropped is how many packets the server counts more than the client.
func (r *Reply) Dropped() byte { return r.dropped }

// AppendEnd encodes the packet that takes an EOF's place for a client with DeprecateEOF: an OK under EOF's header. It is
// EndGrowth longer than an EOF if there is no State. A row may begin with the same byte, but is no shorter than MaxPayload then.
func (ok *OK) AppendEnd(dst []byte) []byte {
	start := len(dst)
	dst = ok.AppendOK(dst)
	dst[start] = EOFHeader
	return dst
}
