// Reports numbers of a program to the trial that runs it (docs/trial-by-command.md). One header that needs nothing but POSIX:
// copy it. C99 and C++.
//
//   backplane_log(1000, 2, "return", 21.5, "loss", 0.3);      the step, how many numbers, then a name and a double for each
//   backplane_log_one(1000, "return", 21.5);
//
// A step below 0 is none: as before. Numbers are doubles: 21, an int, would be read as another number. NaN and infinity are
// reported as not finite. Where no trial runs the program, or its descriptor is closed, every call does nothing and returns 0;
// after a report it returns 1. A report of more than 4000 bytes is left out, and -1 returned. Any thread may call it.
#ifndef BACKPLANE_CLIENT_H
#define BACKPLANE_CLIENT_H

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The trial's descriptor; -1 if there is none or its number now belongs to a different file.
static inline int backplane_report_fd(void) {
  const char* const text = getenv("BACKPLANE_REPORT_FD");
  const char* const inode = getenv("BACKPLANE_REPORT_INODE");
  struct stat info;
  int fd;
  if (text == NULL || *text == '\0') return -1;
  fd = atoi(text);
  if (fstat(fd, &info) != 0) return -1;
  if (inode != NULL && strtoull(inode, NULL, 10) != (unsigned long long)info.st_ino) return -1;
  return fd;
}

static inline int backplane_log_list(long long step, int count, va_list values) {
  char line[4096];
  const size_t most = sizeof line - 96;  // what ends a line fits behind
  size_t size = 0;
  const int fd = backplane_report_fd();
  int i;
  if (fd < 0) return 0;
  size += (size_t)snprintf(line, sizeof line, "{\"values\":{");
  for (i = 0; i < count; ++i) {
    const char* name = va_arg(values, const char*);
    const double value = va_arg(values, double);
    if (i > 0) line[size++] = ',';
    line[size++] = '"';
    for (; *name != '\0'; ++name) {
      if (size >= most) return -1;
      if (*name == '"' || *name == '\\') line[size++] = '\\';
      line[size++] = (unsigned char)*name < 0x20 ? '?' : *name;
    }
    if (size >= most) return -1;
    size += (size_t)(isfinite(value) ? snprintf(line + size, sizeof line - size, "\":%.17g", value)
                                     : snprintf(line + size, sizeof line - size, "\":null"));
  }
  size += (size_t)(step >= 0 ? snprintf(line + size, sizeof line - size, "},\"step\":%lld}\n", step)
                             : snprintf(line + size, sizeof line - size, "}}\n"));
  while (write(fd, line, size) < 0) {
    if (errno != EINTR) return 0;
  }
  return 1;
}

static inline int backplane_log(long long step, int count, ...) {
  va_list values;
  int told;
  va_start(values, count);
  told = backplane_log_list(step, count, values);
  va_end(values);
  return told;
}

static inline int backplane_log_one(long long step, const char* name, double value) {
  return backplane_log(step, 1, name, value);
}

#endif
