import CJavaScriptCore
import Glibc

/// WebKit's engine, which supports current JavaScript. One for a process.
struct JavaScriptCoreEngine: PACScriptEngine {
    private let library: libjavascriptcore
    private let context: OpaquePointer

    /// Nil if the library is not installed, or if the process may not reserve the addresses that the engine needs.
    ///
    /// - Parameter memory: the limit of the process's resident size in bytes. Beyond it the process ends.
    init?(memory: Int) {
        guard Self.mayReserve else { return nil }
        libjavascriptcore_configure()
        var library = libjavascriptcore()
        guard libjavascriptcore_load(&library), libjavascriptcore_limit_memory(memory, Self.farewell),
            let context = library.JSGlobalContextCreate(nil)
        else { return nil }
        self.library = library
        self.context = context
        define("dnsResolve") { context, _, _, count, arguments, _ in
            JavaScriptCoreEngine.answer(context, count, arguments) { PACAddresses.resolve($0, family: AF_INET).first }
        }
        define("dnsResolveEx") { context, _, _, count, arguments, _ in
            JavaScriptCoreEngine.answer(context, count, arguments) {
                PACAddresses.resolve($0, family: AF_UNSPEC).joined(separator: ";")
            }
        }
    }

    func evaluate(_ script: String) throws(PACScriptError) {
        try withString(script) { script throws(PACScriptError) in
            var exception: OpaquePointer?
            guard library.JSEvaluateScript(context, script, nil, nil, 1, &exception) != nil else {
                throw failure(exception)
            }
        }
    }

    func finish() throws(PACScriptError) { try evaluate(PACHelpers.ending) }

    func find(url: String, host: String) throws(PACScriptError) -> String {
        let global = library.JSContextGetGlobalObject(context)
        var exception: OpaquePointer?
        let function = withString(PACHelpers.entry) {
            library.JSObjectGetProperty(context, global, $0, &exception)
        }
        guard let function, library.JSValueIsObject(context, function) else {
            throw PACScriptError("the script has made \(PACHelpers.entry) something else")
        }
        let arguments = [url, host].map { text in withString(text) { library.JSValueMakeString(context, $0) } }
        let result = library.JSObjectCallAsFunction(
            context, function, nil, arguments.count, arguments, &exception)
        guard let result, let text = text(of: result) else { throw failure(exception) }
        return text
    }

    /// The message of an exception, and its line in the script.
    private func failure(_ exception: OpaquePointer?) -> PACScriptError {
        guard let exception else { return PACScriptError("the engine gives no reason") }
        // Reading a hostile exception may throw another one.
        let words = text(of: exception) ?? "an exception that is no text"
        guard library.JSValueIsObject(context, exception),
            let line = withString("line", { library.JSObjectGetProperty(context, exception, $0, nil) }),
            let number = text(of: line).flatMap({ Int($0) })
        else { return PACScriptError(words) }
        return PACScriptError("line \(number): \(words)")
    }

    private func text(of value: OpaquePointer) -> String? {
        guard let string = library.JSValueToStringCopy(context, value, nil) else { return nil }
        defer { library.JSStringRelease(string) }
        return Self.text(of: string, library)
    }

    /// The beginning of a text: a few bytes more than `PACProcess.longestAnswer`.
    private static func text(of string: OpaquePointer, _ library: libjavascriptcore) -> String {
        let size = min(library.JSStringGetMaximumUTF8CStringSize(string), PACProcess.longestAnswer + 8)
        let room = UnsafeMutablePointer<CChar>.allocate(capacity: max(1, size))
        defer { room.deallocate() }
        room[0] = 0
        _ = library.JSStringGetUTF8CString(string, room, size)
        return String(cString: room)
    }

    private func withString<Result, Failure: Error>(
        _ text: String, _ body: (OpaquePointer?) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let string = library.JSStringCreateWithUTF8CString(text)
        defer { library.JSStringRelease(string) }
        return try body(string)
    }

    // MARK: - Functions for the script

    private func define(_ name: String, _ function: jsc_function) {
        withString(name) { name in
            let value = library.JSObjectMakeFunctionWithCallback(context, name, function)
            library.JSObjectSetProperty(context, library.JSContextGetGlobalObject(context), name, value, 0, nil)
        }
    }

    /// Calls a function with a host's name. The result is a text or null.
    private static func answer(
        _ context: OpaquePointer?, _ count: Int, _ arguments: UnsafePointer<OpaquePointer?>?,
        _ body: (String) -> String?
    ) -> OpaquePointer? {
        var library = libjavascriptcore()
        guard libjavascriptcore_load(&library), let context else { return nil }
        guard count > 0, let name = arguments?[0], let string = library.JSValueToStringCopy(context, name, nil) else {
            return library.JSValueMakeNull(context)
        }
        defer { library.JSStringRelease(string) }
        guard let found = body(text(of: string, library)) else { return library.JSValueMakeNull(context) }
        let result = library.JSStringCreateWithUTF8CString(found)
        defer { library.JSStringRelease(result) }
        return library.JSValueMakeString(context, result)
    }

    /// Whether the process may reserve the 70 GB of addresses that the engine reserves without using them.
    static var mayReserve: Bool {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0, limit.rlim_cur >= 1 << 40 else {
            return false
        }
        let file = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        var mode: UInt8 = 0
        return file < 0 || read(file, &mode, 1) != 1 || mode != UInt8(ascii: "2")
    }

    /// The last line of a worker whose script needs too much memory.
    private static let farewell = "-the script uses more than \(PACWorker.memory >> 20) MB of memory\n"
}
