/* python.exe: all of it is in python3*.dll beside this program. */
#include <windows.h>

typedef int py_main(int count, wchar_t **words);

int wmain(int count, wchar_t **words)
{
    HMODULE library = LoadLibraryW(PYTHON_DLL);
    py_main *run = library ? (py_main *)(void *)GetProcAddress(library, "Py_Main") : NULL;
    return run ? run(count, words) : 127;
}
