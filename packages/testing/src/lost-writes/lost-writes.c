/* A disk that loses what was not synced. Loaded before a process (LD_PRELOAD), it notes what each write to a file under
   LOST_WRITES_UNDER replaces, and forgets that when the file is synced. When the process kills itself with SIGKILL, all
   that was noted is put back first, newest first: what is left is what a disk may have after the power went. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct note {
  dev_t dev;
  ino_t ino;
  char path[4096];
  off_t at;
  size_t length;
  char *old;
  off_t size;
  struct note *before;
};

static struct note *newest;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int is_under(int fd, struct stat *found, char path[4096]) {
  const char *under = getenv("LOST_WRITES_UNDER");
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = under ? readlink(link, path, 4095) : -1;
  if (length < 0) return 0;
  path[length] = 0;
  return strncmp(path, under, strlen(under)) == 0 && fstat(fd, found) == 0 && S_ISREG(found->st_mode);
}

static void note_range(int fd, off_t at, size_t length) {
  struct stat found;
  char path[4096];
  if (!is_under(fd, &found, path)) return;
  struct note *note = calloc(1, sizeof *note);
  note->dev = found.st_dev;
  note->ino = found.st_ino;
  strcpy(note->path, path);
  note->at = at;
  note->size = found.st_size;
  note->length = at >= found.st_size ? 0 : (size_t)(found.st_size - at) < length ? (size_t)(found.st_size - at) : length;
  note->old = malloc(note->length + 1);
  int reading = open(path, O_RDONLY | O_CLOEXEC);
  if (reading >= 0) {
    syscall(SYS_pread64, reading, note->old, note->length, at);
    syscall(SYS_close, reading);
  }
  note->before = newest;
  newest = note;
}

static void forget(int fd) {
  struct stat found;
  if (fstat(fd, &found) != 0) return;
  for (struct note **at = &newest; *at;) {
    struct note *note = *at;
    if (note->dev == found.st_dev && note->ino == found.st_ino) {
      *at = note->before;
      free(note->old);
      free(note);
    } else at = &note->before;
  }
}

static ssize_t write_at(int fd, const void *bytes, size_t length, off_t at) {
  pthread_mutex_lock(&lock);
  note_range(fd, at, length);
  ssize_t written = syscall(SYS_pwrite64, fd, bytes, length, at);
  pthread_mutex_unlock(&lock);
  return written;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) { return write_at(fd, bytes, length, at); }
ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t at) { return write_at(fd, bytes, length, at); }

ssize_t write(int fd, const void *bytes, size_t length) {
  pthread_mutex_lock(&lock);
  off_t at = lseek(fd, 0, SEEK_CUR);
  if (at >= 0) note_range(fd, at, length);
  ssize_t written = syscall(SYS_write, fd, bytes, length);
  pthread_mutex_unlock(&lock);
  return written;
}

static int cut(int fd, off_t size) {
  struct stat found;
  pthread_mutex_lock(&lock);
  if (fstat(fd, &found) == 0 && size < found.st_size) note_range(fd, size, found.st_size - size);
  else note_range(fd, size, 0);
  int result = syscall(SYS_ftruncate, fd, size);
  pthread_mutex_unlock(&lock);
  return result;
}

int ftruncate(int fd, off_t size) { return cut(fd, size); }
int ftruncate64(int fd, off_t size) { return cut(fd, size); }

static int sync_file(int fd, long call) {
  int result = syscall(call, fd);
  pthread_mutex_lock(&lock);
  if (result == 0) forget(fd);
  pthread_mutex_unlock(&lock);
  return result;
}

int fsync(int fd) { return sync_file(fd, SYS_fsync); }
int fdatasync(int fd) { return sync_file(fd, SYS_fdatasync); }

int kill(pid_t pid, int sent) {
  if (pid == getpid() && sent == SIGKILL) {
    pthread_mutex_lock(&lock);
    int lost = 0;
    for (struct note *note = newest; note; note = note->before, lost++) {
      int fd = open(note->path, O_WRONLY | O_CLOEXEC);
      if (fd < 0) continue;
      syscall(SYS_pwrite64, fd, note->old, note->length, note->at);
      syscall(SYS_ftruncate, fd, note->size);
      syscall(SYS_close, fd);
    }
    char said[64];
    int length = snprintf(said, sizeof said, "lost %d\n", lost);
    syscall(SYS_write, 2, said, length);
  }
  return syscall(SYS_kill, pid, sent);
}
