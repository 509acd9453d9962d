/* process.h - memory and file descriptors of this process. For the command and
 * the server that is a part of it. */
#ifndef SERVER_PROCESS_H
#define SERVER_PROCESS_H

#include <stddef.h>
#include <stdint.h>

/* Resident memory of the process; 0 if the system does not report it. */
uint64_t resident_bytes(void);

/* Memory that can still be allocated without swapping or being killed: of the machine,
 * and under the limits of the process and its control groups. UINT64_MAX or nearly so
 * if nothing is known. */
uint64_t available_bytes(void);

/* Raises the limit on open files as far as is allowed without privileges. */
void raise_descriptors(void);

/* Returns the number of open file descriptors, and how many are allowed. */
size_t open_descriptors(size_t *allowed);

#endif
