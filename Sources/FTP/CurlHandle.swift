import CCurl

/// One `CURL *`, with everything that must live as long.
final class CurlHandle {
    private let library: libcurl
    private let handle: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    private var entries: UnsafeMutablePointer<curl_slist>?
    /// Whether every setting so far succeeded.
    private(set) var isSound = true

    init() throws(FTPSession.Failure) {
        library = try Self.load()
        guard let handle = library.easy_init() else { throw .unavailable("libcurl has no memory left") }
        self.handle = handle
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        note(libcurl_set_error_text(library, handle, errorText))
    }

    deinit {
        // libcurl sends QUIT now, and the context of the callbacks is gone.
        call(nil, .none)
        library.easy_cleanup(handle)
        library.slist_free_all(entries)
        errorText.deallocate()
    }

    func set(_ option: CURLoption, _ number: Int) { note(libcurl_set_number(library, handle, option, number)) }

    func set(_ option: CURLoption, _ isOn: Bool) { set(option, isOn ? 1 : 0) }

    func set(size option: CURLoption, _ size: Int) {
        note(libcurl_set_size(library, handle, option, curl_off_t(size)))
    }

    /// - Parameter text: libcurl copies it.
    func set(_ option: CURLoption, _ text: String?) { note(libcurl_set_text(library, handle, option, text)) }

    /// - Parameter text: ends with 0; libcurl copies it.
    func set(_ option: CURLoption, _ text: UnsafePointer<CChar>) {
        note(libcurl_set_text(library, handle, option, text))
    }

    /// Sets the addresses of names that libcurl must not resolve: `host:port:address,…`.
    func resolve(_ entry: String) {
        library.slist_free_all(entries)
        entries = library.slist_append(nil, entry)
        note(entries != nil && libcurl_set_addresses(library, handle, entries))
    }

    /// - Parameter context: the argument of the functions; it must live as long as calls are made.
    func call(_ context: UnsafeMutableRawPointer?, _ callbacks: CurlHandle.Callbacks) {
        note(
            libcurl_set_callbacks(
                library, handle, context, callbacks.receive, callbacks.send, callbacks.reply, callbacks.progress,
                callbacks.socket, callbacks.secure))
    }

    func perform() -> CURLcode {
        errorText[0] = 0
        return library.easy_perform(handle)
    }

    /// The text of libcurl about the last failure.
    var failureText: String { String(cString: errorText) }

    /// The size; nil if unknown.
    func size(_ info: CURLINFO) -> Int? {
        let size = libcurl_size(library, handle, info)
        return size < 0 ? nil : Int(size)
    }

    private func note(_ isTaken: Bool) { if !isTaken { isSound = false } }

    /// The functions that libcurl calls during a transfer. The context is the first parameter of `progress` and `socket`,
    /// and the last of the others.
    struct Callbacks {
        let receive: libcurl_body
        let send: libcurl_body
        let reply: libcurl_body
        let progress: libcurl_progress
        let socket: libcurl_socket
        let secure: libcurl_secure

        /// The functions for a handle whose owner is gone: they accept all bytes, send none, and open no connection.
        static let none = CurlHandle.Callbacks(
            receive: { _, size, count, _ in size * count }, send: { _, _, _, _ in 0 },
            reply: { _, size, count, _ in size * count }, progress: { _, _, _, _, _ in 0 },
            socket: { _, _, _ in CURL_SOCKET_BAD }, secure: { _, _, _ in CURLE_ABORTED_BY_CALLBACK })
    }

    /// Loads libcurl at its first use.
    /// - Throws: `unavailable`.
    private static func load() throws(FTPSession.Failure) -> libcurl {
        guard let loaded else { throw .unavailable("libcurl is not installed here (libcurl.so.4, Debian's libcurl4)") }
        // Certificates are judged through OpenSSL, in the instance that this process uses.
        guard libcurl_uses_openssl_3(loaded) else {
            throw .unavailable("the libcurl that is installed here does not speak TLS by OpenSSL 3")
        }
        return loaded
    }

    private static let loaded: libcurl? = {
        var table = libcurl()
        return libcurl_load(&table) ? table : nil
    }()
}
