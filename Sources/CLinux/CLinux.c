#define _GNU_SOURCE
#include "CLinux.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__thread void *linux_current_loop = NULL;

int linux_accept(int descriptor, struct sockaddr *address, socklen_t *length) {
    int accepted = accept4(descriptor, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    return accepted >= 0 ? accepted : -errno;
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

size_t linux_find_quad_end(const uint8_t *bytes, size_t start, size_t count) {
    size_t end = start;
    for (int number = 0;; number++) {
        unsigned value = end < count ? (uint8_t)(bytes[end] - '0') : 10;
        if (value > 9) return start;
        // A digit behind a leading zero makes no number.
        for (uint8_t digit; ++end < count && (digit = bytes[end] - '0') < 10;) {
            value = value == 0 ? 256 : value * 10 + digit;
            if (value > 255) return start;
        }
        if (number == 3) return end;
        if (end == count || bytes[end] != '.') return start;
        end++;
    }
}

const unsigned char linux_token_table[256] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 1, 0, 1, 1, 1, 1, 1, 0, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0,
    0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
};

const unsigned char linux_lower_table[256] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
    16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
    32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
    48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
    64, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111,
    112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 91, 92, 93, 94, 95,
    96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111,
    112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127,
    128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 142, 143,
    144, 145, 146, 147, 148, 149, 150, 151, 152, 153, 154, 155, 156, 157, 158, 159,
    160, 161, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 174, 175,
    176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 186, 187, 188, 189, 190, 191,
    192, 193, 194, 195, 196, 197, 198, 199, 200, 201, 202, 203, 204, 205, 206, 207,
    208, 209, 210, 211, 212, 213, 214, 215, 216, 217, 218, 219, 220, 221, 222, 223,
    224, 225, 226, 227, 228, 229, 230, 231, 232, 233, 234, 235, 236, 237, 238, 239,
    240, 241, 242, 243, 244, 245, 246, 247, 248, 249, 250, 251, 252, 253, 254, 255,
};
