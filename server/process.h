/* process.h - the time, and the memory and file descriptors that this process has; for the command and the server that it carries. */
#ifndef SERVER_PROCESS_H
#define SERVER_PROCESS_H

#include <stddef.h>
#include <stdint.h>

double now_seconds(void);   /* of a clock that nobody sets */
double wall_seconds(void);  /* since 1970 */
double spent_seconds(void); /* by this thread on a processor */

/* Memory in use now; 0 where the system does not tell. */
uint64_t resident_bytes(void);

/* Memory that may be taken without anything else having to go: of the machine, and under the limits of the process and
 * of the control groups that it is in. Huge where nothing is known. */
uint64_t available_bytes(void);

/* Raises the number of files that may be open as far as is allowed without privileges. */
void raise_descriptors(void);

/* How many are open, and how many may be. */
size_t open_descriptors(size_t *allowed);

#endif
