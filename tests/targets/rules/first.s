	.file	"first.c"
	.text
.Ltext0:
	.cfi_sections	.debug_frame
	.file 0 "/src" "first.c"
	.p2align 4
	.type	helper, @function
helper:
.LFB0:
	.file 1 "first.c"
	.loc 1 6 52
	.cfi_startproc
	.loc 1 7 16
	leal	1(%rdi,%rdi,2), %eax
	.loc 1 8 1
	ret
	.cfi_endproc
.LFE0:
	.size	helper, .-helper
	.p2align 4
	.globl	fast
	.type	fast, @function
fast:
.LFB3:
	.loc 1 22 17
	.cfi_startproc
	.loc 1 23 12
	leal	(%rdi,%rdi), %eax
	.loc 1 24 1
	ret
	.cfi_endproc
.LFE3:
	.size	fast, .-fast
	.p2align 4
	.globl	aliased
	.type	aliased, @function
aliased:
.LFB1:
	.loc 1 10 20
	.cfi_startproc
	.loc 1 11 10
	call	helper
	.loc 1 11 20
	xorl	$5, %eax
	.loc 1 12 1
	ret
	.cfi_endproc
.LFE1:
	.size	aliased, .-aliased
	.globl	alias
	.set	alias,aliased
	.globl	__aliased
	.set	__aliased,aliased
	.section	.text.unlikely,"ax",@progbits
.LCOLDB0:
	.text
.LHOTB0:
	.p2align 4
	.section	.text.unlikely
.Ltext_cold0:
	.text
	.globl	outlined
	.type	outlined, @function
outlined:
.LFB2:
	.loc 1 17 21
	.cfi_startproc
	.loc 1 18 6
	testl	%edi, %edi
	js	.L8
	.loc 1 19 10
	jmp	helper
	.cfi_endproc
	.section	.text.unlikely
	.cfi_startproc
	.type	outlined.cold, @function
outlined.cold:
.LFSB2:
.L8:
	.loc 1 17 21 discriminator 1
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	subq	$16, %rsp
	.cfi_def_cfa_offset 32
	.loc 1 18 42 discriminator 1
	movl	%edi, 12(%rsp)
	call	fail@PLT
	.loc 1 18 52 discriminator 1
	movl	12(%rsp), %edi
	.loc 1 18 42 discriminator 1
	movl	%eax, %ebx
	.loc 1 18 52 discriminator 1
	addl	$1, %edi
	call	fail@PLT
	.loc 1 20 1 discriminator 1
	addq	$16, %rsp
	.cfi_def_cfa_offset 16
	.loc 1 18 50 discriminator 1
	addl	%ebx, %eax
	.loc 1 20 1 discriminator 1
	popq	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
.LFE2:
	.text
	.size	outlined, .-outlined
	.section	.text.unlikely
	.size	outlined.cold, .-outlined.cold
.LCOLDE0:
	.text
.LHOTE0:
	.p2align 4
	.type	choose, @function
choose:
.LFB4:
	.loc 1 25 33
	.cfi_startproc
	.loc 1 27 1
	movq	fast@GOTPCREL(%rip), %rax
	ret
	.cfi_endproc
.LFE4:
	.size	choose, .-choose
	.globl	chosen
	.type	chosen, @gnu_indirect_function
	.set	chosen,choose
	.p2align 4
	.globl	generated
	.type	generated, @function
generated:
.LFB5:
	.file 2 "grammar.y"
	.loc 2 100 22
	.cfi_startproc
	.loc 2 101 18
	call	helper
	movl	%eax, %edx
	.loc 2 101 12
	movslq	%edi, %rax
	imulq	$-1840700269, %rax, %rax
	shrq	$32, %rax
	addl	%edi, %eax
	sarl	$31, %edi
	sarl	$2, %eax
	subl	%edi, %eax
	.loc 2 101 16
	addl	%edx, %eax
	.loc 2 102 1
	ret
	.cfi_endproc
.LFE5:
	.size	generated, .-generated
.Letext0:
	.section	.text.unlikely
.Letext_cold0:
	.section	.debug_info,"",@progbits
.Ldebug_info0:
	.long	0xbb
	.value	0x5
	.byte	0x1
	.byte	0x8
	.long	.Ldebug_abbrev0
	.uleb128 0x3
	.long	.LASF7
	.byte	0x1d
	.long	.LASF0
	.long	.LASF1
	.long	.LLRL1
	.quad	0
	.long	.Ldebug_line0
	.uleb128 0x4
	.long	.LASF8
	.byte	0x1
	.byte	0x3
	.byte	0x5
	.uleb128 0x1
	.long	.LASF2
	.byte	0x2
	.byte	0x64
	.quad	.LFB5
	.quad	.LFE5-.LFB5
	.uleb128 0x1
	.byte	0x9c
	.uleb128 0x2
	.long	.LASF5
	.byte	0x19
	.byte	0xe
	.quad	.LFB4
	.quad	.LFE4-.LFB4
	.uleb128 0x1
	.byte	0x9c
	.uleb128 0x5
	.long	.LASF3
	.byte	0x1
	.byte	0x16
	.byte	0x5
	.quad	.LFB3
	.quad	.LFE3-.LFB3
	.uleb128 0x1
	.byte	0x9c
	.uleb128 0x6
	.long	.LASF9
	.byte	0x1
	.byte	0x11
	.byte	0x5
	.long	.LLRL0
	.uleb128 0x1
	.byte	0x9c
	.uleb128 0x1
	.long	.LASF4
	.byte	0x1
	.byte	0xa
	.quad	.LFB1
	.quad	.LFE1-.LFB1
	.uleb128 0x1
	.byte	0x9c
	.uleb128 0x2
	.long	.LASF6
	.byte	0x6
	.byte	0x26
	.quad	.LFB0
	.quad	.LFE0-.LFB0
	.uleb128 0x1
	.byte	0x9c
	.byte	0
	.section	.debug_abbrev,"",@progbits
.Ldebug_abbrev0:
	.uleb128 0x1
	.uleb128 0x2e
	.byte	0
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0x21
	.sleb128 5
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x40
	.uleb128 0x18
	.uleb128 0x7c
	.uleb128 0x19
	.byte	0
	.byte	0
	.uleb128 0x2
	.uleb128 0x2e
	.byte	0
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0x21
	.sleb128 1
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x40
	.uleb128 0x18
	.uleb128 0x7a
	.uleb128 0x19
	.byte	0
	.byte	0
	.uleb128 0x3
	.uleb128 0x11
	.byte	0x1
	.uleb128 0x25
	.uleb128 0xe
	.uleb128 0x13
	.uleb128 0xb
	.uleb128 0x3
	.uleb128 0x1f
	.uleb128 0x1b
	.uleb128 0x1f
	.uleb128 0x55
	.uleb128 0x17
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x10
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x4
	.uleb128 0x2e
	.byte	0
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x3c
	.uleb128 0x19
	.byte	0
	.byte	0
	.uleb128 0x5
	.uleb128 0x2e
	.byte	0
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x40
	.uleb128 0x18
	.uleb128 0x7a
	.uleb128 0x19
	.byte	0
	.byte	0
	.uleb128 0x6
	.uleb128 0x2e
	.byte	0
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x55
	.uleb128 0x17
	.uleb128 0x40
	.uleb128 0x18
	.byte	0
	.byte	0
	.byte	0
	.section	.debug_aranges,"",@progbits
	.long	0x3c
	.value	0x2
	.long	.Ldebug_info0
	.byte	0x8
	.byte	0
	.value	0
	.value	0
	.quad	.Ltext0
	.quad	.Letext0-.Ltext0
	.quad	.Ltext_cold0
	.quad	.Letext_cold0-.Ltext_cold0
	.quad	0
	.quad	0
	.section	.debug_rnglists,"",@progbits
.Ldebug_ranges0:
	.long	.Ldebug_ranges3-.Ldebug_ranges2
.Ldebug_ranges2:
	.value	0x5
	.byte	0x8
	.byte	0
	.long	0
.LLRL0:
	.byte	0x7
	.quad	.LFB2
	.uleb128 .LHOTE0-.LFB2
	.byte	0x7
	.quad	.LFSB2
	.uleb128 .LCOLDE0-.LFSB2
	.byte	0
.LLRL1:
	.byte	0x7
	.quad	.Ltext0
	.uleb128 .Letext0-.Ltext0
	.byte	0x7
	.quad	.Ltext_cold0
	.uleb128 .Letext_cold0-.Ltext_cold0
	.byte	0
.Ldebug_ranges3:
	.section	.debug_line,"",@progbits
.Ldebug_line0:
	.section	.debug_str,"MS",@progbits,1
.LASF6:
	.string	"helper"
.LASF9:
	.string	"outlined"
.LASF2:
	.string	"generated"
.LASF8:
	.string	"fail"
.LASF5:
	.string	"choose"
.LASF3:
	.string	"fast"
.LASF7:
	.string	"GNU C17 12.2.0 -mtune=generic -march=x86-64 -g1 -O2 -fPIC -fno-tree-vectorize -fno-asynchronous-unwind-tables"
.LASF4:
	.string	"aliased"
	.section	.debug_line_str,"MS",@progbits,1
.LASF1:
	.string	"/src"
.LASF0:
	.string	"first.c"
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
