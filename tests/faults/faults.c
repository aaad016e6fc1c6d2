/* Let the n-th change of a file below one folder fail, or be the last thing that happens.

   Preloaded into a process. A control file, shared by it and all that it starts, says
   which folder, which change and what happens then; it counts the changes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct control {
    int64_t at;     /* which change; 0: none */
    int64_t how;    /* 0 kill, 1 kill half way through a write, 2 EIO, 3 disk full */
    int64_t count;  /* how many changes there were */
    char folder[4072];
};

enum { KILL, TEAR, BROKEN, FULL };

static struct control *control;

static struct control *controlled(void) {
    if (!control) {
        const char *path = getenv("FAULTS_CONTROL");
        int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
        int file = path ? real(path, O_RDWR) : -1;
        if (file < 0)
            return NULL;
        void *found = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE,
                           MAP_SHARED, file, 0);
        close(file);
        if (found == MAP_FAILED)
            return NULL;
        control = found;
    }
    return control;
}

static int is_below(const char *path) {
    struct control *it = controlled();
    size_t size = it ? strlen(it->folder) : 0;
    return size && !strncmp(path, it->folder, size) && path[size] == '/';
}

static int is_fd_below(int fd) {
    char name[64], path[PATH_MAX];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(name, path, sizeof path - 1);
    if (size < 0)
        return 0;
    path[size] = 0;
    return is_below(path);
}

static void die(void) {
    kill(0, SIGKILL);
    for (;;)
        pause();
}

/* 0: go on; 1: do half of it and die; else the error. `grows`: a full disk refuses it. */
static int fault(int grows) {
    struct control *it = controlled();
    int64_t number = __atomic_add_fetch(&it->count, 1, __ATOMIC_SEQ_CST);
    if (!it->at || number < it->at)
        return 0;
    if (it->how == FULL)
        return grows ? ENOSPC : 0;
    if (number > it->at)
        return 0;
    if (it->how == BROKEN)
        return EIO;
    if (it->how == TEAR && grows)
        return 1;
    die();
    return 0;
}

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) \
        real = dlsym(RTLD_NEXT, name)

#define WRITES(name, args, call, half) \
    ssize_t name args { \
        if (is_fd_below(fd)) { \
            int error = fault(1); \
            if (error == 1) { \
                size /= 2; \
                half; \
                die(); \
            } \
            if (error) { \
                errno = error; \
                return -1; \
            } \
        } \
        return call; \
    }

static ssize_t real_write(int fd, const void *data, size_t size) {
    REAL(ssize_t, "write", int, const void *, size_t);
    return real(fd, data, size);
}
static ssize_t real_pwrite(int fd, const void *data, size_t size, off64_t at) {
    REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
    return real(fd, data, size, at);
}
static ssize_t real_range(int from, off64_t *in, int fd, off64_t *out, size_t size,
                          unsigned flags) {
    REAL(ssize_t, "copy_file_range", int, off64_t *, int, off64_t *, size_t, unsigned);
    return real(from, in, fd, out, size, flags);
}
WRITES(write, (int fd, const void *data, size_t size), real_write(fd, data, size),
       (void)!real_write(fd, data, size))
WRITES(pwrite, (int fd, const void *data, size_t size, off_t at),
       real_pwrite(fd, data, size, at), real_pwrite(fd, data, size, at))
WRITES(pwrite64, (int fd, const void *data, size_t size, off64_t at),
       real_pwrite(fd, data, size, at), real_pwrite(fd, data, size, at))
WRITES(copy_file_range,
       (int from, off64_t *in, int fd, off64_t *out, size_t size, unsigned flags),
       real_range(from, in, fd, out, size, flags),
       real_range(from, in, fd, out, size, flags))

#define FAILS(is_ours, grows) \
    if (is_ours) { \
        int error = fault(grows); \
        if (error == 1) \
            die(); \
        if (error) { \
            errno = error; \
            return -1; \
        } \
    }

#define ON_FD(name) \
    int name(int fd) { \
        FAILS(is_fd_below(fd), 0) \
        REAL(int, #name, int); \
        return real(fd); \
    }
ON_FD(fsync)
ON_FD(fdatasync)

#define TRUNCATES(name, offset) \
    int name(int fd, offset size) { \
        FAILS(is_fd_below(fd), 0) \
        REAL(int, #name, int, offset); \
        return real(fd, size); \
    }
TRUNCATES(ftruncate, off_t)
TRUNCATES(ftruncate64, off64_t)

#define ON_TWO(name) \
    int name(const char *from, const char *to) { \
        FAILS(is_below(to), 0) \
        REAL(int, #name, const char *, const char *); \
        return real(from, to); \
    }
ON_TWO(rename)
ON_TWO(link)

int renameat(int from_at, const char *from, int to_at, const char *to) {
    FAILS(is_below(to), 0)
    REAL(int, "renameat", int, const char *, int, const char *);
    return real(from_at, from, to_at, to);
}

int linkat(int from_at, const char *from, int to_at, const char *to, int flags) {
    FAILS(is_below(to), 0)
    REAL(int, "linkat", int, const char *, int, const char *, int);
    return real(from_at, from, to_at, to, flags);
}

int unlink(const char *path) {
    FAILS(is_below(path), 0)
    REAL(int, "unlink", const char *);
    return real(path);
}

int unlinkat(int at, const char *path, int flags) {
    FAILS(is_below(path), 0)
    REAL(int, "unlinkat", int, const char *, int);
    return real(at, path, flags);
}

#define OPENS(name) \
    int name(const char *path, int flags, ...) { \
        int mode = 0; \
        if (flags & O_CREAT) { \
            va_list more; \
            va_start(more, flags); \
            mode = va_arg(more, int); \
            va_end(more); \
            FAILS(is_below(path) && access(path, F_OK), 0) \
        } \
        REAL(int, #name, const char *, int, ...); \
        return real(path, flags, mode); \
    }
OPENS(open)
OPENS(open64)
