//go:build mpi && (amd64 || arm64)

package parallel

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// mostBytes is the length of the longest message: MPI counts in an int.
const mostBytes = 1 << 30

func (k *link) exchange(to int, send []byte, from int, receive []byte) (err error) {
	for err == nil && len(send)+len(receive) > 0 {
		s, r := min(len(send), mostBytes), min(len(receive), mostBytes)
		k.do(func() { err = k.message(to, send[:s], from, receive[:r]) })
		send, receive = send[s:], receive[r:]
	}
	return err
}

// tag is the tag of all messages.
const tag = 1

// message sends and receives one message each. An empty one is none.
func (k *link) message(to int, send []byte, from int, receive []byte) error {
	var pinned runtime.Pinner
	defer pinned.Unpin()
	requests := new([2]uint64) // handles of at most eight bytes
	pinned.Pin(requests)
	pending := 0
	if len(receive) > 0 {
		pinned.Pin(&receive[0])
		if err := k.call("MPI_Irecv", address(&receive[0]), uintptr(len(receive)), k.byteType, uintptr(from), tag,
			k.world, address(&requests[pending])); err != nil {
			return err
		}
		pending++
	}
	if len(send) > 0 {
		pinned.Pin(&send[0])
		if err := k.call("MPI_Isend", address(&send[0]), uintptr(len(send)), k.byteType, uintptr(to), tag, k.world,
			address(&requests[pending])); err != nil {
			return err
		}
		pending++
	}
	var status messageStatus
	pinned.Pin(&status)
	for i := range pending {
		if err := k.wait(&requests[i], &status); err != nil {
			if i == 0 && len(receive) > 0 && strings.Contains(err.Error(), "truncated") {
				return fmt.Errorf("got more than %d bytes of rank %d, want %[1]d: the two do not do the same",
					len(receive), from)
			}
			return err
		}
		if i > 0 || len(receive) == 0 {
			continue
		}
		got, err := k.count(&status)
		if err != nil {
			return err
		}
		if got != len(receive) {
			return unlike(got, len(receive), from)
		}
	}
	return nil
}

// messageStatus is MPI_Status, which has 20 bytes in one library and 24 in the other.
type messageStatus [8]uint64

// count returns the length of a message that was received, by its status, which is pinned.
func (k *link) count(status *messageStatus) (int, error) {
	n := new(int32)
	var pinned runtime.Pinner
	defer pinned.Unpin()
	pinned.Pin(n)
	err := k.call("MPI_Get_count", address(status), k.byteType, address(n))
	return int(*n), err
}

// wait returns when a request is done, with its status. It polls, and yields the core to other processes
// in between, for longer the longer it waits.
func (k *link) wait(request *uint64, status *messageStatus) error {
	for asked := 0; ; asked++ {
		if done, err := k.test(request, address(status)); done || err != nil {
			return err
		}
		if k.aborted.Load() {
			return errors.New("the group was ended")
		}
		pause(asked)
	}
}

// test reports whether a request, which is pinned, is done, and writes its status.
func (k *link) test(request *uint64, status uintptr) (bool, error) {
	flag := new(int32)
	var pinned runtime.Pinner
	defer pinned.Unpin()
	pinned.Pin(flag)
	err := k.call("MPI_Test", address(request), address(flag), status)
	return *flag != 0, err
}

// pause yields the core to other threads: at first for no time, and after a while for up to 1 ms.
func pause(asked int) {
	const quick, longest = 2000, 1_000_000 // times, and nanoseconds
	if asked < quick {
		_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
		return
	}
	wait := unix.NsecToTimespec(min(int64(asked-quick+1)*10_000, longest))
	_ = unix.Nanosleep(&wait, nil) // a signal may end it
}
