import CPacparser
import Glibc
import IO

/// The process that evaluates one PAC file. A script may run for ever and take all memory, so it runs alone. The
/// process can be killed, has no descriptors but its pipe, and ends when it uses too much memory. The engine is
/// JavaScriptCore if it is installed, else libpacparser.
///
/// It answers each line `URL HOST` of its input with one line: `+` and the script's result, or `-` and the error. The
/// first line comes without a question, and says whether the script can be used.
public enum PACWorker {
    /// The program's first argument to start the worker; the path follows.
    public static let command = "pac-worker"

    /// The resident memory in bytes at which the process ends. A script of 4 MB needs half of it.
    static let memory = 256 << 20

    /// The limit of addresses in bytes, for an engine that reserves only what it uses.
    private static let addresses: rlim_t = 512 << 20

    /// The limit of descriptors: resolving names may use select(2), which supports no higher numbers.
    private static let descriptors: rlim_t = 1024

    /// - Parameter engine: `pacparser` for libpacparser even if JavaScriptCore is installed, for tests.
    /// - Returns: when the input ends.
    public static func serve(path: String, engine: String? = nil) {
        libpacparser_end_with_parent()
        lower(RLIMIT_NOFILE, to: descriptors)
        // A core dump would include the engine's reserved addresses.
        lower(RLIMIT_CORE, to: 0)
        let script: String
        do throws(FileError) { script = try text(SmallFile.read(path, limit: PACProcess.longestScript)) } catch {
            return answer("-", "!the PAC file \(path) cannot be read")
        }
        let mayReserve = JavaScriptCoreEngine.mayReserve
        let modern: JavaScriptCoreEngine? = engine == "pacparser" ? nil : JavaScriptCoreEngine(memory: memory)
        guard let engine: any PACScriptEngine = modern ?? oldEngine() else {
            return answer(
                "-",
                "!no engine for PAC files is installed: install JavaScriptCore (Debian: "
                    + "libjavascriptcoregtk-4.1-0) or libpacparser (libpacparser1, ES5 only)")
        }
        var own = PACAddresses.own
        do throws(PACScriptError) {
            try engine.evaluate(PACHelpers.beginning)
            try engine.evaluate(PACHelpers.addresses(first: own.first, all: own.all))
            try engine.evaluate(script)
            try engine.finish()
        } catch {
            let isOld = modern == nil && error.words.contains("SyntaxError")
            return answer("-", error.words + (isOld ? hint(mayReserve) : ""))
        }
        answer("+", "")
        while let line = readLine() {
            let words = line.split(separator: " ")
            guard words.count == 2 else {
                answer("-", "no question")
                continue
            }
            do throws(PACScriptError) {
                let present = PACAddresses.own
                if present != own {
                    own = present
                    try engine.evaluate(PACHelpers.addresses(first: own.first, all: own.all))
                }
                answer("+", try engine.find(url: String(words[0]), host: String(words[1])))
            } catch { answer("-", error.words) }
        }
    }

    private static func oldEngine() -> PacparserEngine? {
        lower(RLIMIT_AS, to: addresses)
        return PacparserEngine()
    }

    private static func hint(_ mayReserve: Bool) -> String {
        "; libpacparser knows ES5 only, and JavaScriptCore knows later JavaScript: "
            + (mayReserve
                ? "install it (Debian: libjavascriptcoregtk-4.1-0)"
                : "it cannot run where addresses are limited (ulimit -v, vm.overcommit_memory=2)")
    }

    private static func lower(_ resource: __rlimit_resource, to most: rlim_t) {
        var limit = rlimit()
        let resource = __rlimit_resource_t(resource.rawValue)
        guard getrlimit(resource, &limit) == 0 else { return }
        limit = rlimit(rlim_cur: min(limit.rlim_cur, most), rlim_max: min(limit.rlim_max, most))
        setrlimit(resource, &limit)
    }

    /// A file as text. A file with a UTF-16 byte-order mark is read as UTF-16. `SmallFile` removes that of UTF-8.
    static func text(_ file: [UInt8]) -> String {
        if file.starts(with: [0xFF, 0xFE]) { return utf16(file) { $0 | $1 << 8 } }
        if file.starts(with: [0xFE, 0xFF]) { return utf16(file) { $0 << 8 | $1 } }
        return String(decoding: file, as: UTF8.self)
    }

    private static func utf16(_ file: [UInt8], _ unit: (UInt16, UInt16) -> UInt16) -> String {
        let units = stride(from: 2, to: file.count - 1, by: 2).map { unit(UInt16(file[$0]), UInt16(file[$0 + 1])) }
        return String(decoding: units, as: UTF16.self)
    }

    /// Writes one line, for any text.
    private static func answer(_ sign: String, _ text: String) {
        print(line(sign, text))
        fflush(nil)
    }

    /// The line of an answer. If a script's result is too long, only complete ways are kept: a part of a host's name is
    /// another host.
    static func line(_ sign: String, _ text: String) -> String {
        var line = sign
        var count = 0
        for scalar in text.unicodeScalars {
            count += UTF8.width(scalar)
            guard count <= PACProcess.longestAnswer else {
                guard sign == "+" else { return line }
                return line.lastIndex(of: ";").map { String(line[..<$0]) } ?? "-it says too much"
            }
            line.unicodeScalars.append(scalar.value < 0x20 || scalar.value == 0x7F ? " " : scalar)
        }
        return line
    }
}
