// Variants of the native modules: `built`, those of this installation, and `supported`, those that this processor can
// run. Plain C API without vector instructions: this module is imported before the processor is known.
#include <Python.h>

#include <string>
#include <vector>

namespace {

using Names = std::vector<std::string>;

Names built() { return {POISE_VARIANTS}; }

// Slowest first. The names of the instruction sets are those of the compiler flags in CMakeLists.txt.
Names supported() {
  Names names{"baseline"};
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
  __builtin_cpu_init();  // also checks that the operating system saves the registers
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  if (avx2) names.push_back("avx2");
  if (avx512) names.push_back("avx512");
#endif
  return names;
}

bool add(PyObject* module, const char* name, const Names& values) {
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(values.size()));
  if (tuple == nullptr) return false;
  for (size_t i = 0; i < values.size(); ++i) {
    PyObject* value = PyUnicode_FromString(values[i].c_str());
    if (value == nullptr || PyTuple_SetItem(tuple, static_cast<Py_ssize_t>(i), value) != 0) {
      Py_DECREF(tuple);
      return false;
    }
  }
  const bool added = PyModule_AddObjectRef(module, name, tuple) == 0;
  Py_DECREF(tuple);
  return added;
}

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_cpu", "Variants of the native modules.", -1, nullptr, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__cpu() {
  PyObject* module = PyModule_Create(&definition);
  if (module == nullptr) return nullptr;
  if (!add(module, "built", built()) || !add(module, "supported", supported())) {
    Py_DECREF(module);
    return nullptr;
  }
  return module;
}
