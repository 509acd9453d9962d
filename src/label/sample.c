/* sample.c - the posts of one label with the lowest priorities, as a heap of cells.
 *
 * Every post of the stream has a random priority. The k posts of a label with the lowest ones are a
 * uniform sample of size k of all its posts, for every k (a bottom-k sample; Cohen and Kaplan,
 * "Summarizing data using bottom-k sketches", PODC 2007), and a smaller sample is made of a larger
 * one by dropping the posts with the highest priorities.
 *
 * So a sample takes posts in, gives up the last in that order, and is emptied; nothing is ever
 * taken out of its middle. A skew heap does that with two links a node and no room of its own
 * (Sleator and Tarjan, "Self-adjusting heaps", SIAM J. Comput. 15(1), 1986): to merge two heaps,
 * merge their right spines, swapping the children of every node on the way. That costs O(log k)
 * amortised. The shape of the heap depends on its history, but nobody sees it: lists are sorted.
 *
 * Equal priorities are all but impossible; then the post that came later is the higher one.
 */
#include "label/tracker.h"

static bool higher(const tide_posts *p, uint32_t a, uint32_t b)
{
    const tide_cell *x = &p->cells[a], *y = &p->cells[b];
    if (x->hold.priority != y->hold.priority)
        return x->hold.priority > y->hold.priority;
    return p->cells[x->hold.post].post.number > p->cells[y->hold.post].post.number;
}

static uint32_t merge(tide_posts *p, uint32_t a, uint32_t b)
{
    uint32_t root, *link = &root;
    while (a != TIDE_NO_CELL && b != TIDE_NO_CELL) {
        if (higher(p, b, a)) {
            uint32_t other = a;
            a = b;
            b = other;
        }
        tide_cell *node = &p->cells[a];
        uint32_t rest = node->hold.right;
        node->hold.right = node->hold.left;
        *link = a;
        link = &node->hold.left;
        a = rest;
    }
    *link = a != TIDE_NO_CELL ? a : b;
    return root;
}

bool tide_sample_wants(const tide_posts *p, const tide_sample *s, uint64_t priority)
{
    if (s->kept < s->limit)
        return true;
    return s->kept > 0 && priority < p->cells[s->last].hold.priority;
}

bool tide_sample_holds(const tide_posts *p, const tide_sample *s, uint32_t post)
{
    const tide_cell *asked = &p->cells[post];
    if (s->kept == 0 || asked->post.number < s->since)
        return false;
    const tide_cell *last = &p->cells[s->last];
    if (asked->post.priority != last->hold.priority)
        return asked->post.priority < last->hold.priority;
    return asked->post.number <= p->cells[last->hold.post].post.number;
}

void tide_sample_add(tide_posts *p, tide_sample *s, uint32_t post)
{
    uint32_t hold = tide_cell_take(p);
    p->cells[hold] =
        (tide_cell){.hold = {.priority = p->cells[post].post.priority, .post = post}};
    p->cells[post].post.holds++;
    s->last = merge(p, s->last, hold);
    s->kept++;
}

void tide_sample_drop_last(tide_posts *p, tide_sample *s)
{
    const tide_cell *last = &p->cells[s->last];
    uint32_t rest = merge(p, last->hold.left, last->hold.right);
    tide_post_release(p, last->hold.post);
    tide_cell_drop(p, s->last);
    s->last = rest;
    s->kept--;
}

/* Turns the heap until its root has no left child, which can then go: a heap may be as deep as it
 * is large, so there is no recursion. */
void tide_sample_clear(tide_posts *p, tide_sample *s)
{
    uint32_t root = s->last;
    while (root != TIDE_NO_CELL) {
        tide_cell *node = &p->cells[root];
        uint32_t left = node->hold.left, right = node->hold.right;
        if (left != TIDE_NO_CELL) {
            node->hold.left = p->cells[left].hold.right;
            p->cells[left].hold.right = root;
            root = left;
            continue;
        }
        tide_post_release(p, node->hold.post);
        tide_cell_drop(p, root);
        root = right;
    }
    s->last = TIDE_NO_CELL;
    s->kept = 0;
}

/* -- lists --------------------------------------------------------------------------------------- */

static void sink(uint32_t *items, uint32_t at, uint32_t count, tide_before *before,
                 const void *context)
{
    uint32_t item = items[at];
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && before(context, items[child], items[child + 1]))
            child++;
        if (!before(context, item, items[child]))
            break;
        items[at] = items[child];
    }
    items[at] = item;
}

void tide_order(uint32_t *items, uint32_t count, tide_before *before,
                const void *context)
{
    for (uint32_t at = count / 2; at-- > 0;)
        sink(items, at, count, before, context);
    while (count > 1) {
        uint32_t last = items[0];
        items[0] = items[--count];
        items[count] = last;
        sink(items, 0, count, before, context);
    }
}

static bool lower(const void *posts, uint32_t a, uint32_t b)
{
    return higher(posts, b, a);
}

void tide_sample_list(const tide_posts *p, const tide_sample *s, uint32_t *posts)
{
    uint32_t found = 0;
    if (s->last != TIDE_NO_CELL)
        posts[found++] = s->last;
    for (uint32_t i = 0; i < found; i++) {
        const tide_cell *node = &p->cells[posts[i]];
        if (node->hold.left != TIDE_NO_CELL)
            posts[found++] = node->hold.left;
        if (node->hold.right != TIDE_NO_CELL)
            posts[found++] = node->hold.right;
    }
    tide_order(posts, found, lower, p);
    for (uint32_t i = 0; i < found; i++)
        posts[i] = p->cells[posts[i]].hold.post;
}
