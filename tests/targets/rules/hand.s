# Written by hand: a function without a size, a label, and code that has no name at all.
	.text
	.globl	unsized
	.type	unsized, @function
unsized:
	xorl	%eax, %eax
	ret
bare_label:
	movl	$2, %eax
	ret
	.p2align 4
	.section	.note.GNU-stack,"",@progbits
