/* The function of the module that reads lines of a recording of the scheduler, see `scheduler_lines.h`. */

#ifndef TRACETUI_SCAN_SCHEDULER_H
#define TRACETUI_SCAN_SCHEDULER_H

#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include <stdlib.h>

#include "scheduler_lines.h"

/* Appends room for so many values to a list; NULL where there is no memory, or was none before. */
static void *add_column(PyObject *columns, size_t rows, size_t size) {
    PyObject *values = PyErr_Occurred() ? NULL : PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(rows * size));
    bool ok = values && PyList_Append(columns, values) == 0;
    Py_XDECREF(values);
    return ok ? PyByteArray_AsString(values) : NULL;
}

/* Cuts a column of a list to the rows that are filled in. */
static bool cut_column(PyObject *columns, Py_ssize_t place, size_t rows, size_t size) {
    return PyByteArray_Resize(PyList_GetItem(columns, place), (Py_ssize_t)(rows * size)) == 0;
}

static PyObject *scan_scheduler(PyObject *Py_UNUSED(module), PyObject *text) {
    char *bytes;
    Py_ssize_t length;
    if (PyBytes_AsStringAndSize(text, &bytes, &length) < 0) return NULL;
    if (length > INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "too long");
        return NULL;
    }
    SchedulerTable *table = malloc(sizeof *table);
    PyObject *columns = PyList_New(0);
    if (!table || !columns) {
        free(table);
        Py_XDECREF(columns);
        return PyErr_NoMemory();
    }
    size_t rows = count_lines(bytes, (size_t)length);
    table->named = table->owned = 0;
    table->time = add_column(columns, rows, sizeof *table->time);
    table->cpu = add_column(columns, rows, sizeof *table->cpu);
    table->kind = add_column(columns, rows, sizeof *table->kind);
    table->pid = add_column(columns, rows, sizeof *table->pid);
    table->other = add_column(columns, rows, sizeof *table->other);
    table->state = add_column(columns, rows, sizeof *table->state);
    table->target = add_column(columns, rows, sizeof *table->target);
    table->start = add_column(columns, rows, sizeof *table->start);
    table->names = add_column(columns, 2 * rows, sizeof *table->names);
    table->processes = add_column(columns, rows, sizeof *table->processes);
    bool ok = !PyErr_Occurred();
    if (ok) {
        Py_BEGIN_ALLOW_THREADS /* others read the lines that follow */
        read_scheduler_lines(table, bytes, (size_t)length);
        Py_END_ALLOW_THREADS
        ok = cut_column(columns, 8, table->named, sizeof *table->names) &&
             cut_column(columns, 9, table->owned, sizeof *table->processes);
    }
    free(table);
    if (!ok) Py_CLEAR(columns);
    return columns;
}

#endif
