// What Linux offers only as macros, varargs or thread-local storage, for Swift.
#pragma once
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

/// The calling thread's event loop, or NULL. Set once by the loop's own thread.
extern __thread void *linux_current_loop;
static inline void *linux_get_current_loop(void) { return linux_current_loop; }
static inline void linux_set_current_loop(void *loop) { linux_current_loop = loop; }

/// Calls that need `_GNU_SOURCE`, which a header must not define: the same libc struct would then differ between
/// two C modules. Each returns what the system call returns, or `-errno`.
int linux_accept(int descriptor, struct sockaddr *address, socklen_t *length);
/// As `recv` and `send` do it that raise no signal. Those of glibc are points where a thread may be cancelled, which costs
/// as much again as the rest of the call; no thread here is ever cancelled.
ssize_t linux_receive(int descriptor, void *bytes, size_t count);
ssize_t linux_send(int descriptor, const void *bytes, size_t count);
/// As `epoll_wait`, likewise. `limit` in milliseconds, -1 for none.
int linux_wait(int epoll, struct epoll_event *events, int count, int limit);
ssize_t linux_splice(int from, int to, size_t count, bool more);
int linux_pipe(int descriptors[2], int size);
int linux_temporary_file(const char *directory);
int linux_open_spare(void);
/// The user and the process at the other end of a socket of this machine (SO_PEERCRED); a listening one's for who connected.
int linux_peer(int descriptor, uid_t *user, pid_t *process);
/// The argument of that number, from 0, the program's name; NULL behind the last.
const char *linux_argument(int place);
/// Ends the process without the functions that libraries have registered for its end (atexit(3)).
_Noreturn void linux_end(int status);
/// Starts a program in a session of its own, with these streams for input, output and errors, and no other descriptors. The
/// kernel kills it when the calling thread ends. It makes no core files, and has at most 1,024 descriptors. posix_spawn
/// cannot set these limits in time. Returns 0, or `-errno`.
int linux_start_helper(
    const char *program, char *const words[], char *const environment[], const int streams[3], pid_t *process);
/// A descriptor that becomes readable when the process ends, or `-errno`.
int linux_open_process(pid_t process);
/// Whether the child has ended. It stays a zombie, so that its number is not used for another process.
bool linux_has_ended(pid_t process);
/// A file in memory, or `-errno`.
int linux_memory_file(void);
/// Returns 0 or an error number, like the call.
int linux_spawn_close_from(posix_spawn_file_actions_t *actions, int descriptor);
/// The processors that this process may run on, by its affinity mask; 0 when the system does not say.
int linux_processor_count(void);
void linux_name_thread(const char *name);
/// The bytes of the heaps of malloc that are in use, and those that are free, resident or not.
void linux_measure_heaps(size_t *used, size_t *unused);
/// Returns free pages of all heaps to the system. A thread that allocates waits meanwhile: some 0.5 ms for 10 MB.
void linux_trim_heaps(void);
/// Whether the process may be dumped and looked into by others of its user.
int linux_set_dumpable(bool dumpable);
/// The system's words for an errno, in `room`.
void linux_error_text(int error, char *room, size_t size);
