//go:build peers

package main

import (
	"encoding/binary"
	"fmt"
	"net"
	"syscall"
	"testing"
)

// isolate makes sure that the process has a network of its own, in which it
// and what it starts are alone: some peers listen on all interfaces.
func isolate(t *testing.T) {
	t.Helper()
	list, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range list {
		switch {
		case i.Flags&net.FlagLoopback != 0:
			if err := raise(i.Index); err != nil {
				t.Fatalf("the loopback interface of the network namespace stays down: %v", err)
			}
		case i.Flags&net.FlagUp != 0:
			t.Fatalf("these tests start servers that listen on all interfaces, and %s is up: run them by `make peers`", i.Name)
		}
	}
}

// raise sets an interface up, as `ip link set lo up` does where there is an ip.
func raise(index int) error {
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, syscall.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("netlink: %w", err)
	}
	defer func() { _ = syscall.Close(fd) }()
	const size = syscall.SizeofNlMsghdr + syscall.SizeofIfInfomsg
	order := binary.NativeEndian
	request := order.AppendUint32(nil, size)
	request = order.AppendUint16(request, syscall.RTM_NEWLINK)
	request = order.AppendUint16(request, syscall.NLM_F_REQUEST|syscall.NLM_F_ACK)
	request = append(request, make([]byte, 8)...) // sequence and port: there is one request only
	request = append(request, syscall.AF_UNSPEC, 0, 0, 0)
	request = order.AppendUint32(request, uint32(index))
	request = order.AppendUint32(request, syscall.IFF_UP) // flags
	request = order.AppendUint32(request, syscall.IFF_UP) // which of them change
	if err := syscall.Sendto(fd, request, 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}); err != nil {
		return fmt.Errorf("netlink: %w", err)
	}
	answer := make([]byte, 4096)
	n, _, err := syscall.Recvfrom(fd, answer, 0)
	if err != nil || n < syscall.SizeofNlMsghdr+4 {
		return fmt.Errorf("netlink answers with %d bytes: %w", n, err)
	}
	if code := int32(order.Uint32(answer[syscall.SizeofNlMsghdr:])); code != 0 {
		return fmt.Errorf("netlink: %w", syscall.Errno(-code))
	}
	return nil
}
