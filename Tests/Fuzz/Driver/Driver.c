// SwiftPM links an executable with `main` defined as `<target>_main`, which hides libFuzzer's own `main`. These call
// what that one calls.
#include <stddef.h>
#include <stdint.h>

extern int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
extern int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*test)(const uint8_t *, size_t));

#define DRIVER(target)                                                                                                 \
    int target##_main(int count, char **arguments);                                                                    \
    int target##_main(int count, char **arguments) {                                                                   \
        return LLVMFuzzerRunDriver(&count, &arguments, LLVMFuzzerTestOneInput);                                        \
    }

DRIVER(FuzzHead)
DRIVER(FuzzChunked)
DRIVER(FuzzChallenge)
DRIVER(FuzzNTLM)
DRIVER(FuzzTrust)
DRIVER(FuzzForm)
DRIVER(FuzzRules)
DRIVER(FuzzDigestAuthorization)
DRIVER(FuzzJSON)
DRIVER(FuzzCredentialFile)
DRIVER(FuzzFTP)
DRIVER(FuzzCookie)
DRIVER(FuzzSOCKS)
DRIVER(FuzzBalancer)
DRIVER(FuzzHello)
DRIVER(FuzzTrace)
DRIVER(FuzzURL)
