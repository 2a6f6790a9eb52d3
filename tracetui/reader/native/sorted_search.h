/* Where numbers stand among sorted ones, see `tracetui.arrays`. */

#ifndef TRACETUI_SORTED_SEARCH_H
#define TRACETUI_SORTED_SEARCH_H

#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include <stdint.h>

static inline bool is_before(int64_t number, int64_t wanted, bool after) {
    return after ? number <= wanted : number < wanted;
}

/* The first place whose number is not before the one that is wanted: not lower, nor equal where `after`.

   Looked for from a place on in steps that double: what is wanted is mostly in order, so the place of the
   number before is near. */
static inline int64_t seek(const int64_t *sorted, int64_t count, int64_t wanted, bool after, int64_t place) {
    int64_t low = 0, high = count, step = 1;
    if (place < count && is_before(sorted[place], wanted, after)) {
        for (low = place + 1; low + step <= count; step *= 2) {
            if (!is_before(sorted[low + step - 1], wanted, after)) {
                high = low + step - 1;
                break;
            }
            low += step;
        }
    } else {
        for (high = place; high >= step; step *= 2) {
            if (is_before(sorted[high - step], wanted, after)) {
                low = high - step + 1;
                break;
            }
            high -= step;
        }
    }
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (is_before(sorted[middle], wanted, after)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static PyObject *searchsorted(PyObject *Py_UNUSED(module), PyObject *args) {
    unsigned long long addresses[3];
    long long count, wanted;
    int after;
    if (!PyArg_ParseTuple(args, "KLKLKp", addresses, &count, addresses + 1, &wanted, addresses + 2, &after)) {
        return NULL;
    }
    const int64_t *sorted = (const int64_t *)(uintptr_t)addresses[0];
    const int64_t *numbers = (const int64_t *)(uintptr_t)addresses[1];
    int64_t *places = (int64_t *)(uintptr_t)addresses[2], place = 0;
    Py_BEGIN_ALLOW_THREADS
    if (after) {
        for (int64_t i = 0; i < wanted; i++) places[i] = place = seek(sorted, count, numbers[i], true, place);
    } else {
        for (int64_t i = 0; i < wanted; i++) places[i] = place = seek(sorted, count, numbers[i], false, place);
    }
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

#endif
