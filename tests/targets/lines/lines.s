	.file	"lines.c"
	.text
.Ltext0:
	.cfi_sections	.debug_frame
	.file 0 "/src" "lines.c"
	.p2align 4
	.type	spread.constprop.0, @function
spread.constprop.0:
.LFB5:
	.file 1 "lines.c"
	.loc 1 5 38
	.cfi_startproc
	movslq	%esi, %rsi
	.loc 1 6 7
	xorl	%ecx, %ecx
	leaq	(%rdi,%rsi,4), %rsi
	.p2align 4,,10
	.p2align 3
.L3:
.LBB14:
	.loc 1 8 16
	movl	(%rdi), %edx
.LBB15:
.LBB16:
.LBB17:
.LBB18:
	.file 2 "lines.h"
	.loc 2 3 35
	testl	%edx, %edx
	jns	.L2
	movslq	%edx, %rax
	movl	%edx, %r8d
	imulq	$-2115558717, %rax, %rax
	sarl	$31, %r8d
	shrq	$32, %rax
	addl	%edx, %eax
	sarl	$9, %eax
	subl	%r8d, %eax
	imull	$1009, %eax, %eax
	subl	%eax, %edx
.L2:
.LBE18:
.LBE17:
	.loc 2 8 19
	leal	3(%rdx,%rdx), %eax
.LBE16:
.LBE15:
	.loc 1 7 21
	addq	$4, %rdi
	.loc 1 8 14
	movl	%eax, -4(%rdi)
	.loc 1 9 9
	addl	%eax, %ecx
	.loc 1 7 21
	cmpq	%rsi, %rdi
	jne	.L3
.LBE14:
	.loc 1 12 1
	movl	%ecx, %eax
	ret
	.cfi_endproc
.LFE5:
	.size	spread.constprop.0, .-spread.constprop.0
	.p2align 4
	.globl	visit
	.type	visit, @function
visit:
.LFB3:
	.loc 1 14 60
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	movq	%rdi, %rbp
	pushq	%rbx
	.cfi_def_cfa_offset 24
	.cfi_offset 3, -24
	movslq	%esi, %rbx
	subq	$8, %rsp
	.cfi_def_cfa_offset 32
	.loc 1 15 6
	testl	%ebx, %ebx
	je	.L9
	.loc 1 16 10
	leal	-1(%rbx), %esi
	call	visit
	.loc 1 16 34
	addl	0(%rbp,%rbx,4), %eax
	.loc 1 17 1
	addq	$8, %rsp
	.cfi_remember_state
	.cfi_def_cfa_offset 24
	popq	%rbx
	.cfi_def_cfa_offset 16
	popq	%rbp
	.cfi_def_cfa_offset 8
	ret
	.p2align 4,,10
	.p2align 3
.L9:
	.cfi_restore_state
	.loc 1 17 1 is_stmt 0 discriminator 1
	addq	$8, %rsp
	.cfi_def_cfa_offset 24
	.loc 1 15 26 is_stmt 1 discriminator 1
	movl	$64, %esi
	.loc 1 17 1 discriminator 1
	popq	%rbx
	.cfi_def_cfa_offset 16
	popq	%rbp
	.cfi_def_cfa_offset 8
	.loc 1 15 26 discriminator 1
	jmp	spread.constprop.0
	.cfi_endproc
.LFE3:
	.size	visit, .-visit
	.p2align 4
	.globl	work
	.type	work, @function
work:
.LFB4:
	.loc 1 19 22
	.cfi_startproc
	subq	$8, %rsp
	.cfi_def_cfa_offset 16
	.loc 1 19 22
	movq	%rdi, %r10
	.loc 1 20 13
	movl	$4, %esi
	call	visit
	.loc 1 21 10
	movl	$16, %esi
	movq	%r10, %rdi
	.loc 1 20 13
	movl	%eax, %r9d
	.loc 1 21 10
	call	spread.constprop.0
	.loc 1 23 1
	addq	$8, %rsp
	.cfi_def_cfa_offset 8
	.loc 1 21 7
	addl	%r9d, %eax
	.loc 1 23 1
	ret
	.cfi_endproc
.LFE4:
	.size	work, .-work
.Letext0:
	.section	.debug_info,"",@progbits
.Ldebug_info0:
	.long	0xc3
	.value	0x5
	.byte	0x1
	.byte	0x8
	.long	.Ldebug_abbrev0
	.uleb128 0x2
	.long	.LASF5
	.byte	0x1d
	.long	.LASF0
	.long	.LASF1
	.quad	.Ltext0
	.quad	.Letext0-.Ltext0
	.long	.Ldebug_line0
	.uleb128 0x3
	.long	.LASF6
	.byte	0x1
	.byte	0x13
	.byte	0x5
	.quad	.LFB4
	.quad	.LFE4-.LFB4
	.uleb128 0x1
	.byte	0x9c
	.uleb128 0x4
	.long	.LASF7
	.byte	0x1
	.byte	0xe
	.byte	0x1f
	.quad	.LFB3
	.quad	.LFE3-.LFB3
	.uleb128 0x1
	.byte	0x9c
	.uleb128 0x1
	.long	.LASF2
	.byte	0x1
	.byte	0x5
	.byte	0x26
	.byte	0x1
	.uleb128 0x1
	.long	.LASF3
	.byte	0x2
	.byte	0x6
	.byte	0x32
	.byte	0x3
	.uleb128 0x1
	.long	.LASF4
	.byte	0x2
	.byte	0x2
	.byte	0x32
	.byte	0x3
	.uleb128 0x5
	.long	0x62
	.quad	.LFB5
	.quad	.LFE5-.LFB5
	.uleb128 0x1
	.byte	0x9c
	.uleb128 0x6
	.long	0x6b
	.quad	.LBB15
	.quad	.LBE15-.LBB15
	.byte	0x1
	.byte	0x8
	.byte	0x10
	.uleb128 0x7
	.long	0x74
	.quad	.LBB17
	.quad	.LBE17-.LBB17
	.byte	0x2
	.byte	0x7
	.byte	0xe
	.byte	0
	.byte	0
	.byte	0
	.section	.debug_abbrev,"",@progbits
.Ldebug_abbrev0:
	.uleb128 0x1
	.uleb128 0x2e
	.byte	0
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x20
	.uleb128 0xb
	.byte	0
	.byte	0
	.uleb128 0x2
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
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x10
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x3
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
	.uleb128 0x7c
	.uleb128 0x19
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
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x40
	.uleb128 0x18
	.byte	0
	.byte	0
	.uleb128 0x5
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x31
	.uleb128 0x13
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
	.uleb128 0x1d
	.byte	0x1
	.uleb128 0x31
	.uleb128 0x13
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x58
	.uleb128 0xb
	.uleb128 0x59
	.uleb128 0xb
	.uleb128 0x57
	.uleb128 0xb
	.byte	0
	.byte	0
	.uleb128 0x7
	.uleb128 0x1d
	.byte	0
	.uleb128 0x31
	.uleb128 0x13
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x58
	.uleb128 0xb
	.uleb128 0x59
	.uleb128 0xb
	.uleb128 0x57
	.uleb128 0xb
	.byte	0
	.byte	0
	.byte	0
	.section	.debug_aranges,"",@progbits
	.long	0x2c
	.value	0x2
	.long	.Ldebug_info0
	.byte	0x8
	.byte	0
	.value	0
	.value	0
	.quad	.Ltext0
	.quad	.Letext0-.Ltext0
	.quad	0
	.quad	0
	.section	.debug_line,"",@progbits
.Ldebug_line0:
	.section	.debug_str,"MS",@progbits,1
.LASF5:
	.string	"GNU C17 12.2.0 -mtune=generic -march=x86-64 -g1 -O2 -fno-tree-vectorize -fno-asynchronous-unwind-tables"
.LASF2:
	.string	"spread"
.LASF4:
	.string	"wrapped"
.LASF3:
	.string	"twice_and_more"
.LASF6:
	.string	"work"
.LASF7:
	.string	"visit"
	.section	.debug_line_str,"MS",@progbits,1
.LASF0:
	.string	"lines.c"
.LASF1:
	.string	"/src"
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
