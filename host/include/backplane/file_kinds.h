// Further flags of an option: the kind of file that a PATH with BP_PARAM_DATA names.
#ifndef BACKPLANE_FILE_KINDS_H_
#define BACKPLANE_FILE_KINDS_H_

#define BP_PARAM_XML 8      // an XML file; the files that it names belong to the trial's identity, too
#define BP_PARAM_PYTHON 16  // a Python file; all `*.py` below its folder belong to the identity, too

#endif  // BACKPLANE_FILE_KINDS_H_
