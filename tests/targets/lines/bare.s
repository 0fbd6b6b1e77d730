# Code without line numbers, beside that of lines.s.
	.text
	.globl	bare
	.type	bare, @function
bare:
	endbr64
	movl	$1, %eax
	ret
	.size	bare, .-bare
	.section	.note.GNU-stack,"",@progbits
