package sqlscan

// AppendGap appends what stands between two tokens, blanks and comments, without the markers of executable comments: what is
// left is the text as the server's parser has it, which is what it names columns by.
func AppendGap(dst, gap []byte) []byte {
	for i := 0; i < len(gap); {
		end := i + 1
		switch {
		case gap[i] == '*': // the "*/" of an executable comment
			i += 2
			continue
		case gap[i] == '/':
			if code, ok := executable(gap, i); ok {
				i = code
				continue
			}
			end, _ = blockComment(gap, i)
		case gap[i] == '#', gap[i] == '-':
			end = lineComment(gap, i)
		}
		dst = append(dst, gap[i:end]...)
		i = end
	}
	return dst
}
