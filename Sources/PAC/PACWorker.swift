import CPacparser
import Glibc
import IO

/// The process that evaluates one PAC file. Its engine knows no time limit and is of a time when scripts were trusted, so
/// it works where nothing else is: it can be killed, and there is nothing to be found.
///
/// It answers each line `URL HOST` of its input with one line of its output: `+` and what the script returned, or `-` and
/// what went wrong. The first line comes unasked, and says whether the script can be used.
public enum PACWorker {
    /// The program's first argument, when it is to be this; the path follows.
    public static let command = "pac-worker"

    /// Bytes of memory that a script may have.
    private static let memory: rlim_t = 512 << 20

    /// Descriptors: what a script resolves names with may use select(2), which knows no higher ones.
    private static let descriptors: rlim_t = 1024

    /// - Returns: when the input ends.
    public static func serve(path: String) {
        libpacparser_end_with_parent()
        var limit = rlimit(rlim_cur: memory, rlim_max: memory)
        setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
        // The proxy has raised its own, which a child inherits.
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            limit = rlimit(
                rlim_cur: min(limit.rlim_cur, descriptors), rlim_max: min(limit.rlim_max, descriptors))
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        var library = libpacparser()
        guard libpacparser_load(&library) else {
            return answer("-", "!libpacparser is not installed here (libpacparser.so.1, Debian's libpacparser1)")
        }
        guard let bytes = try? SmallFile.read(path, limit: PACProcess.longestScript) else {
            return answer("-", "!the PAC file \(path) cannot be read")
        }
        let script = String(decoding: bytes, as: UTF8.self)
        guard library.`init`() == 1, script.withCString({ library.parse_pac_string($0) }) == 1 else {
            return answer("-", complaint)
        }
        answer("+", "")
        while let line = readLine() {
            let words = line.split(separator: " ")
            libpacparser_complaint()?[0] = 0
            guard words.count == 2, let found = library.find_proxy(String(words[0]), String(words[1])) else {
                answer("-", complaint)
                continue
            }
            answer("+", String(cString: found))
            free(found)
        }
    }

    private static var complaint: String {
        guard let room = libpacparser_complaint() else { return "" }
        let text = String(cString: room)
        return text.isEmpty ? "no reason is given" : text
    }

    /// One line, whatever is in the text.
    private static func answer(_ sign: String, _ text: String) {
        print(line(sign, text))
        fflush(nil)
    }

    /// Of what is too long a script's answer keeps as many ways as are whole: half a host's name is another's.
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
