#define _GNU_SOURCE
#include "CLinux.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

__thread void *linux_current_loop = NULL;

static int argument_count;
static char **arguments;

// The C library calls a constructor as it calls main. Swift looks for the arguments in front of `environ` instead, where
// they are no more once a preloaded library has called setenv.
__attribute__((constructor)) static void keep_arguments(int count, char **values) {
    argument_count = count;
    arguments = values;
}

const char *linux_argument(int place) {
    return place >= 0 && place < argument_count ? arguments[place] : NULL;
}

// LeakSanitizer's, where the program is built with it; it looks for leaks at the usual end alone.
extern void __lsan_do_leak_check(void) __attribute__((weak));

void linux_end(int status) {
    if (__lsan_do_leak_check) __lsan_do_leak_check();
    _exit(status);
}

int linux_accept(int descriptor, struct sockaddr *address, socklen_t *length) {
    int accepted = accept4(descriptor, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    return accepted >= 0 ? accepted : -errno;
}

int linux_peer(int descriptor, uid_t *user, pid_t *process) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return -errno;
    *user = peer.uid;
    *process = peer.pid;
    return 0;
}

ssize_t linux_receive(int descriptor, void *bytes, size_t count) {
    long received = syscall(SYS_recvfrom, descriptor, bytes, count, 0, NULL, NULL);
    return received < 0 ? -errno : received;
}

ssize_t linux_send(int descriptor, const void *bytes, size_t count) {
    long sent = syscall(SYS_sendto, descriptor, bytes, count, MSG_NOSIGNAL, NULL, 0);
    return sent < 0 ? -errno : sent;
}

int linux_wait(int epoll, struct epoll_event *events, int count, int limit) {
    long ready = syscall(SYS_epoll_pwait, epoll, events, count, limit, NULL, 0);
    return ready < 0 ? -errno : (int)ready;
}

ssize_t linux_splice(int from, int to, size_t count, bool more) {
    ssize_t moved = splice(from, NULL, to, NULL, count,
                           SPLICE_F_MOVE | SPLICE_F_NONBLOCK | (more ? SPLICE_F_MORE : 0));
    return moved >= 0 ? moved : -errno;
}

// An unprivileged user has a total limit on pipe pages: a pipe that stays small is still a pipe.
int linux_pipe(int descriptors[2], int size) {
    if (pipe2(descriptors, O_NONBLOCK | O_CLOEXEC) != 0) return -errno;
    (void)fcntl(descriptors[1], F_SETPIPE_SZ, size);
    int actual = fcntl(descriptors[1], F_GETPIPE_SZ);
    return actual > 0 ? actual : 65536;
}

// O_TMPFILE leaves no name to clean up; file systems without it get a name that is unlinked at once.
int linux_temporary_file(const char *directory) {
    int descriptor = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor >= 0) return descriptor;
    char path[4096];
    int length = 0;
    while (directory[length] != 0) {
        if (length == 4000) return -ENAMETOOLONG;
        path[length] = directory[length];
        length++;
    }
    const char suffix[] = "/attache-XXXXXX";
    for (unsigned i = 0; i < sizeof suffix; i++) path[length + (int)i] = suffix[i];
    descriptor = mkostemp(path, O_CLOEXEC);
    if (descriptor < 0) return -errno;
    (void)unlink(path);
    return descriptor;
}

int linux_processor_count(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

void linux_name_thread(const char *name) { (void)pthread_setname_np(pthread_self(), name); }

void linux_error_text(int error, char *room, size_t size) {
    const char *text = strerror_r(error, room, size);
    if (text != room) snprintf(room, size, "%s", text);
}

int linux_open_spare(void) { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

int linux_spawn_close_from(posix_spawn_file_actions_t *actions, int descriptor) {
    return posix_spawn_file_actions_addclosefrom_np(actions, descriptor);
}

int linux_set_dumpable(bool dumpable) {
    return prctl(PR_SET_DUMPABLE, dumpable ? 1L : 0L, 0L, 0L, 0L) == 0 ? 0 : -errno;
}

void linux_measure_heaps(size_t *used, size_t *unused) {
    struct mallinfo2 all = mallinfo2();
    *used = all.uordblks;
    *unused = all.fordblks;
}

void linux_trim_heaps(void) { (void)malloc_trim(0); }
