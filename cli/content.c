/* content.c - detects what a file on the command line contains. */
#include "content.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

tide_content content_of(const char *path, tide_error *description)
{
    enum { SAMPLE_SIZE = 64 * 1024 };
    char bytes[SAMPLE_SIZE];
    struct stat status;
    /* Not blocking, because opening a pipe would wait for its writer; and only regular
     * files are read, since what is read from a pipe is gone. */
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    bool regular = file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    ssize_t size = regular ? read(file, bytes, sizeof bytes) : 0;
    if (file >= 0)
        close(file);
    return size > 0
               ? tide_content_of(bytes, (size_t)size, size < SAMPLE_SIZE, description)
               : TIDE_CONTENT_TEXT;
}
