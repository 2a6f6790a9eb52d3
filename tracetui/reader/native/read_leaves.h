/* The function of the module that reads leaves of a table from a file, see `leaves.h`. */

#ifndef TRACETUI_READ_LEAVES_H
#define TRACETUI_READ_LEAVES_H

#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include <unistd.h>

#include "leaves.h"

#define MOST_WANTED 64
#define LARGEST_PAGE 65536
#define LEAST_USABLE 480 /* bytes of a page */
#define MOST_LEAVES (1 << 20) /* at a time */
#define MOST_PAGES UINT32_MAX /* of a file */

/* Reads pages from a file, those that follow each other at once; false where the file ends before. */
static bool read_pages(int file, uint8_t *target, const int64_t *numbers, size_t count, size_t page) {
    for (size_t first = 0, stop; first < count; first = stop) {
        for (stop = first + 1; stop < count && numbers[stop] == numbers[stop - 1] + 1;) stop++;
        size_t length = (stop - first) * page;
        if (numbers[first] < 1 || numbers[first] > MOST_PAGES) return false;
        off_t offset = (off_t)(numbers[first] - 1) * (off_t)page;
        if (pread(file, target + first * page, length, offset) != (ssize_t)length) return false;
    }
    return true;
}

/* Takes over what is wanted; false where that makes no sense. */
static bool take_wanted(Leaves *leaves, const int32_t *pairs) {
    int32_t before = 0;
    for (size_t column = 0; column < leaves->columns; column++) {
        WantedColumn *wanted = &leaves->wanted[column];
        wanted->place = pairs[2 * column];
        wanted->kind = pairs[2 * column + 1];
        if (wanted->place < before || wanted->kind < 0 || wanted->kind >= KINDS_OF_COLUMNS) return false;
        before = wanted->place;
    }
    return true;
}

/* Makes room for so many rows of each wanted column; returns a list of that, NULL where there is no memory. */
static PyObject *make_room(Leaves *leaves, size_t rows) {
    PyObject *columns = PyList_New(0);
    for (size_t column = 0; columns && column < leaves->columns; column++) {
        PyObject *values = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(8 * rows));
        if (values) leaves->wanted[column].values = PyByteArray_AsString(values);
        if (!values || PyList_Append(columns, values) < 0) Py_CLEAR(columns);
        Py_XDECREF(values);
    }
    return columns;
}

/* All that is done with the pages in memory: the rows, None where they are refused. */
static PyObject *rows_of_leaves(Leaves *leaves, int file, const int64_t *numbers, uint8_t *pages) {
    size_t rows = 0;
    bool ok;
    Py_BEGIN_ALLOW_THREADS /* others read the leaves that follow */
    ok = read_pages(file, pages, numbers, leaves->count, leaves->page) && count_rows(leaves, &rows);
    Py_END_ALLOW_THREADS
    if (!ok) Py_RETURN_NONE;
    PyObject *columns = make_room(leaves, rows);
    if (!columns) return NULL;
    Py_BEGIN_ALLOW_THREADS
    ok = read_rows(leaves);
    Py_END_ALLOW_THREADS
    if (ok) {
        long long first = leaves->first_rowid, last = leaves->last_rowid;
        return Py_BuildValue("(nLLN)", (Py_ssize_t)rows, first, last, columns);
    }
    Py_DECREF(columns);
    Py_RETURN_NONE;
}

static PyObject *read_leaves(PyObject *Py_UNUSED(module), PyObject *args) {
    int file;
    Py_ssize_t page, usable;
    PyObject *numbers, *wanted;
    WantedColumn columns[MOST_WANTED];
    if (!PyArg_ParseTuple(args, "innSS", &file, &page, &usable, &numbers, &wanted)) return NULL;
    Leaves leaves = {
        .count = (size_t)PyBytes_Size(numbers) / sizeof(int64_t),
        .page = (size_t)page,
        .usable = (size_t)usable,
        .wanted = columns,
        .columns = (size_t)PyBytes_Size(wanted) / (2 * sizeof(int32_t)),
    };
    if (usable < LEAST_USABLE || usable > page || page > LARGEST_PAGE || leaves.columns > MOST_WANTED ||
        leaves.count > MOST_LEAVES || !take_wanted(&leaves, (const int32_t *)PyBytes_AsString(wanted))) {
        PyErr_SetString(PyExc_ValueError, "no such pages or columns");
        return NULL;
    }
    uint8_t *pages = malloc(leaves.count * leaves.page + WORD);
    if (!pages) return PyErr_NoMemory();
    memset(pages + leaves.count * leaves.page, 0, WORD);
    leaves.pages = pages;
    PyObject *result = rows_of_leaves(&leaves, file, (const int64_t *)PyBytes_AsString(numbers), pages);
    free(pages);
    return result;
}

#endif
