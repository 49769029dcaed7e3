import CPacparser
import Glibc

/// An engine that evaluates scripts in this process.
protocol PACScriptEngine {
    func evaluate(_ script: String) throws(PACScriptError)
    /// Evaluates `PACHelpers.ending`.
    func finish() throws(PACScriptError)
    /// Calls `PACHelpers.entry`.
    func find(url: String, host: String) throws(PACScriptError) -> String
}

/// The error of a script, in the engine's words.
struct PACScriptError: Error {
    let words: String

    init(_ words: String) { self.words = words }
}

/// The SpiderMonkey of 2000 in libpacparser, which supports ECMAScript 3 and parts of 5. One for a process.
struct PacparserEngine: PACScriptEngine {
    private let library: libpacparser

    /// Nil if the library is not installed.
    init?() {
        var library = libpacparser()
        guard libpacparser_load(&library), library.`init`() == 1 else { return nil }
        self.library = library
    }

    func evaluate(_ script: String) throws(PACScriptError) {
        library.complaint?[0] = 0
        guard script.withCString({ library.parse_pac_string($0) }) == 1 else { throw complaint }
    }

    func finish() throws(PACScriptError) {
        // The library calls one or the other, depending on its version.
        try evaluate("\(PACHelpers.ending)\nthis.FindProxyForURL = \(PACHelpers.entry);")
    }

    func find(url: String, host: String) throws(PACScriptError) -> String {
        library.complaint?[0] = 0
        guard let found = library.find_proxy(url, host) else { throw complaint }
        // The engine owns the text, and shares it between answers from one literal.
        return String(cString: found)
    }

    private var complaint: PACScriptError {
        let text = library.complaint.map { String(cString: $0) } ?? ""
        return PACScriptError(text.isEmpty ? "no reason is given" : text)
    }
}
