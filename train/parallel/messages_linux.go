//go:build mpi && (amd64 || arm64)

package parallel

import (
	"cmp"
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

// message sends and receives one message each. An empty one is not sent.
func (k *link) message(to int, send []byte, from int, receive []byte) error {
	var pinned runtime.Pinner
	defer pinned.Unpin()
	begin := func(call string, message []byte, rank int, request *uint64) error {
		if len(message) == 0 {
			return nil
		}
		pinned.Pin(&message[0])
		return k.call(call, address(&message[0]), uintptr(len(message)), k.byteType, uintptr(rank), tag, k.world,
			address(request))
	}
	receiving, sending := &written.requests[0], &written.requests[1]
	if err := cmp.Or(begin("MPI_Irecv", receive, from, receiving), begin("MPI_Isend", send, to, sending)); err != nil {
		return err
	}
	if len(receive) > 0 {
		if err := k.wait(receiving); err != nil {
			if strings.Contains(err.Error(), "truncated") {
				return fmt.Errorf("got more than %d bytes of rank %d, want %[1]d: the two do not do the same",
					len(receive), from)
			}
			return err
		}
		if err := k.call("MPI_Get_count", address(&written.status), k.byteType, address(&written.number)); err != nil {
			return err
		}
		if got := int(written.number); got != len(receive) {
			return unlike(got, len(receive), from)
		}
	}
	if len(send) == 0 {
		return nil
	}
	return k.wait(sending)
}

// wait returns when a request is done, with its status. It polls, and in between yields the core to other processes,
// for increasing times.
func (k *link) wait(request *uint64) error {
	for asked := 0; ; asked++ {
		if done, err := k.test(request, address(&written.status)); done || err != nil {
			return err
		}
		if k.aborted.Load() {
			return errors.New("the group was ended")
		}
		pause(asked)
	}
}

// test reports whether a request is done, and writes its status.
func (k *link) test(request *uint64, status uintptr) (bool, error) {
	err := k.call("MPI_Test", address(request), address(&written.number), status)
	return written.number != 0, err
}

// pause yields the core to other threads: at first for no time, and after a while for up to 1 ms.
func pause(asked int) {
	const quick, longest = 2000, 1_000_000 // times, and nanoseconds
	if asked < quick {
		_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
		return
	}
	wait := unix.NsecToTimespec(min(int64(asked-quick+1)*10_000, longest))
	_ = unix.Nanosleep(&wait, nil) // a signal may interrupt it
}
