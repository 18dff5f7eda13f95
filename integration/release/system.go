package main

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"errors"
)

// systemOf reads from a program's header for which system and processor it is.
func systemOf(program []byte) (target, error) {
	r := bytes.NewReader(program)
	if f, err := elf.NewFile(r); err == nil {
		arch := map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}[f.Machine]
		return target{"linux", arch}, f.Close()
	}
	if f, err := macho.NewFile(r); err == nil {
		arch := map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64"}[f.Cpu]
		return target{"darwin", arch}, f.Close()
	}
	if f, err := pe.NewFile(r); err == nil {
		arch := map[uint16]string{pe.IMAGE_FILE_MACHINE_AMD64: "amd64", pe.IMAGE_FILE_MACHINE_ARM64: "arm64"}[f.Machine]
		return target{"windows", arch}, f.Close()
	}
	return target{}, errors.New("it is no program of Linux, macOS or Windows")
}
