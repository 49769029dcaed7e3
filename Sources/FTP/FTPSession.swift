import Bytes
import CCurl
import Crypto
import Glibc
import IO

/// The files of one server, with one login, through libcurl. Passive mode only, and with TLS if the server offers it
/// (RFC 4217). Every call blocks, and one thread makes them all.
///
/// The first call connects; the later ones use that connection.
public final class FTPSession {
    private let handle: CurlHandle
    private let server: FTPServer
    private let idle: Duration
    private let isWanted: () -> Bool
    private let security: FTPServer.Security
    private let upload = ByteBuffer(capacity: BufferPool.large)

    // The parameters of the current call.
    private var sink: ((Span<UInt8>) -> Bool)?
    private var source: ((ByteBuffer) -> Bool)?
    private var reply: Reply?
    private var interruption: Failure?
    private var moved: curl_off_t = 0
    private var movedAt = ContinuousClock.now

    /// - Parameters:
    ///   - timeouts: `connect` for the connection and its TLS, `idle` for the server's silence. The time
    ///     of our own side does not count.
    ///   - isWanted: called once a second; false ends the current call with `cancelled`.
    public init(
        with server: FTPServer, as login: FTPServer.Login, within timeouts: (connect: Milliseconds, idle: Milliseconds),
        security: FTPServer.Security, isWanted: @escaping () -> Bool
    ) throws(Failure) {
        handle = try CurlHandle()
        self.server = server
        idle = timeouts.idle.duration
        self.isWanted = isWanted
        self.security = security
        configure(connect: timeouts.connect, silence: timeouts.idle)
        authenticate(as: login)
        guard handle.isSound else {
            throw .unavailable("the libcurl that is installed here lacks a feature that ftp URLs need")
        }
    }

    // MARK: - Calls

    /// Logs in, and asks about a file. For a directory it only checks that it exists.
    public func inspect(_ path: FTPPath) throws(Failure) -> FTPSession.File {
        handle.set(CURLOPT_NOBODY, true)
        // The size of a text file is unknown, and some servers refuse the question.
        try perform(path, asText: false)
        if path.isDirectory { return FTPSession.File(size: nil, modified: nil) }
        return FTPSession.File(
            size: handle.size(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T),
            modified: handle.size(CURLINFO_FILETIME_T).map { WallTime(seconds: $0) })
    }

    /// Reads a file, or the listing of a directory.
    ///
    /// - Parameters:
    ///   - range: the range of the file's bytes; nil for all.
    ///   - sink: gets each piece; false ends the call with `cancelled`.
    public func retrieve(
        _ path: FTPPath, _ range: Range<Int>? = nil, to sink: @escaping (Span<UInt8>) -> Bool
    ) throws(Failure) {
        self.sink = sink
        defer { self.sink = nil }
        handle.set(CURLOPT_NOBODY, false)
        handle.set(CURLOPT_RANGE, range.map { "\($0.lowerBound)-\($0.upperBound - 1)" })
        defer { handle.set(CURLOPT_RANGE, nil) }
        try perform(path, asText: path.isText)
    }

    /// Writes a file.
    ///
    /// - Parameters:
    ///   - length: the length in bytes; nil if it is not known in advance.
    ///   - source: adds bytes to the empty buffer; none at the end. False ends the call with `cancelled`, and leaves an
    ///     incomplete file on the server.
    public func store(
        _ path: FTPPath, length: Int?, from source: @escaping (ByteBuffer) -> Bool
    ) throws(Failure) {
        self.source = source
        defer { self.source = nil }
        upload.clear()
        handle.set(CURLOPT_NOBODY, false)
        handle.set(CURLOPT_UPLOAD, true)
        defer { handle.set(CURLOPT_UPLOAD, false) }
        handle.set(size: CURLOPT_INFILESIZE_LARGE, length ?? -1)
        try perform(path, asText: path.isText)
    }

    private func perform(_ path: FTPPath, asText: Bool) throws(Failure) {
        reply = nil
        interruption = nil
        moved = 0
        movedAt = .now
        handle.set(CURLOPT_TRANSFERTEXT, asText)
        handle.set(CURLOPT_URL, "ftp://\(server.bracketedHost):\(server.port)\(path.urlText)")
        let code = handle.perform()
        // An earlier failure counts, not a slow QUIT afterwards.
        if code == CURLE_ABORTED_BY_CALLBACK, let interruption { throw interruption }
        if code != CURLE_OK { throw failure(code) }
    }

    private func failure(_ code: CURLcode) -> Failure {
        let text = handle.failureText
        switch code {
        case CURLE_URL_MALFORMAT: return .unspeakable
        case CURLE_COULDNT_CONNECT: return .unreachable
        case CURLE_OPERATION_TIMEDOUT, CURLE_FTP_ACCEPT_TIMEOUT:
            // libcurl treats every 421 as a time-out of the server.
            if let reply, reply.code == 421 { return .refused(reply) }
            return .timedOut
        case CURLE_USE_SSL_FAILED: return .notSecured
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_ISSUER_ERROR:
            return .insecure(text)
        case CURLE_ABORTED_BY_CALLBACK, CURLE_WRITE_ERROR: return .cancelled
        case CURLE_LOGIN_DENIED:
            guard let reply else { return .broken(text) }
            // 430 is widespread, though not in RFC 959. Other replies, such as 421 and "500 OOPS", concern the server.
            return [430, 530].contains(reply.code) ? .loginRefused(reply) : .loginFailed(reply)
        default:
            if let reply, reply.code >= 400 { return .refused(reply) }
            return .broken(text)
        }
    }

    // MARK: - Settings

    private func configure(connect: Milliseconds, silence: Milliseconds) {
        handle.set(CURLOPT_PROTOCOLS, Int(CURLPROTO_FTP))
        handle.set(CURLOPT_REDIR_PROTOCOLS, 0)
        // The proxy settings in the environment are for other programs.
        handle.set(CURLOPT_PROXY, "")
        handle.set(CURLOPT_NETRC, libcurl_netrc_ignored)
        handle.set(CURLOPT_NOSIGNAL, true)
        handle.set(CURLOPT_DISALLOW_USERNAME_IN_URL, true)
        // Passive mode, with data connections to the server's own address only, even if it names another one
        // (CVE-2020-8284).
        handle.set(CURLOPT_FTP_USE_EPSV, true)
        handle.set(CURLOPT_FTP_SKIP_PASV_IP, true)
        if let resolution = server.resolution { handle.resolve(resolution) }
        handle.set(CURLOPT_CONNECTTIMEOUT_MS, connect.count)
        handle.set(CURLOPT_SERVER_RESPONSE_TIMEOUT, max(1, (silence + 999).seconds))
        security.configure(handle)
        handle.set(CURLOPT_FILETIME, true)
        handle.set(CURLOPT_BUFFERSIZE, BufferPool.large)
        handle.set(CURLOPT_NOPROGRESS, false)
        handle.call(
            Unmanaged.passUnretained(self).toOpaque(),
            CurlHandle.Callbacks(
                receive: { FTPSession.of($3)?.receive($0, $1 * $2) ?? 0 },
                send: { FTPSession.of($3)?.send($0, $1 * $2) ?? Int(CURL_READFUNC_ABORT) },
                reply: { FTPSession.of($3)?.note($0, $1 * $2) ?? 0 },
                progress: { FTPSession.of($0)?.goesOn($2 + $4) == true ? 0 : 1 },
                socket: { session, _, address in FTPSession.of(session)?.open(address) ?? CURL_SOCKET_BAD },
                secure: { _, context, session in
                    guard let context, let session = FTPSession.of(session) else { return CURLE_ABORTED_BY_CALLBACK }
                    session.security.govern(ForeignTLSContext(borrowing: context))
                    return CURLE_OK
                }))
    }

    private func authenticate(as login: FTPServer.Login) {
        let user = login.user.map { CChar(truncatingIfNeeded: $0) } + [0]
        handle.set(CURLOPT_USERNAME, user)
        login.password.withBytes { bytes in
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { room in
                for offset in bytes.indices { room[offset] = CChar(truncatingIfNeeded: bytes[offset]) }
                room[bytes.count] = 0
                if let start = room.baseAddress { handle.set(CURLOPT_PASSWORD, UnsafePointer(start)) }
                if let start = room.baseAddress { explicit_bzero(start, room.count) }
            }
        }
    }

    // MARK: - Callbacks of libcurl

    private static func of(_ context: UnsafeMutableRawPointer?) -> FTPSession? {
        context.map { Unmanaged<FTPSession>.fromOpaque($0).takeUnretainedValue() }
    }

    private func receive(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard let bytes, let sink else { return count }
        let isTaken = bytes.withMemoryRebound(to: UInt8.self, capacity: count) {
            sink(UnsafeBufferPointer(start: $0, count: count).span)
        }
        movedAt = .now
        if !isTaken { interruption = .cancelled }
        return isTaken ? count : 0
    }

    private func send(_ room: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard let room, let source else { return 0 }
        if upload.isEmpty, !source(upload) {
            interruption = .cancelled
            return Int(CURL_READFUNC_ABORT)
        }
        movedAt = .now
        let taken = upload.withReadable { bytes in
            let taken = min(count, bytes.count)
            UnsafeMutableRawBufferPointer(start: room, count: taken).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: bytes[..<taken]))
            return taken
        }
        upload.consume(taken)
        return taken
    }

    private func note(_ line: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        movedAt = .now
        line?.withMemoryRebound(to: UInt8.self, capacity: count) {
            if let reply = Reply(line: UnsafeBufferPointer(start: $0, count: count).span) { self.reply = reply }
        }
        return count
    }

    private func goesOn(_ count: curl_off_t) -> Bool {
        if count != moved {
            moved = count
            movedAt = .now
        }
        if !isWanted() {
            interruption = .cancelled
        } else if movedAt.duration(to: .now) > idle {
            interruption = .timedOut
        }
        return interruption == nil
    }

    private func open(_ place: UnsafeMutablePointer<curl_sockaddr>?) -> curl_socket_t {
        guard let place, let address = libcurl_address(place).flatMap({ SocketAddress(system: $0) }),
            server.addresses.contains(address.address)
        else { return CURL_SOCKET_BAD }
        let kind = place.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
        return socket(place.pointee.family, kind, place.pointee.protocol)
    }

    /// The facts of a file from the server; nil if the server sent none.
    public struct File: Sendable, Equatable {
        /// The size in bytes, from SIZE (RFC 3659 section 4).
        public let size: Int?
        /// The time of the last change, from MDTM (RFC 3659 section 3).
        public let modified: WallTime?
    }

    /// The last reply of a server: a code of three digits and a text (RFC 959 section 4.2).
    public struct Reply: Sendable, Equatable, CustomStringConvertible {
        public let code: Int
        /// The text, in printable ASCII.
        public let text: String

        private static let longest = 200

        /// Parses the last line of a reply; nil for any other line.
        init?(line: Span<UInt8>) {
            guard line.count >= 4, line[3] == .space, line[0] >= 0x31, line[0] <= 0x35 else { return nil }
            var code = 0
            for offset in 0..<3 {
                guard line[offset].isDigit else { return nil }
                code = code * 10 + Int(line[offset] - 0x30)
            }
            self.code = code
            var text: [UInt8] = []
            for offset in 4..<line.count where line[offset] != .carriageReturn && line[offset] != .lineFeed {
                guard text.count < Self.longest else { break }
                text.append(line[offset] >= 0x20 && line[offset] < 0x7F ? line[offset] : UInt8(ascii: "?"))
            }
            self.text = String(decoding: text, as: UTF8.self)
        }

        public var description: String { text.isEmpty ? "\(code)" : "\(code) \(text)" }
    }

    /// The reason why there is no file, or an incomplete one.
    public enum Failure: Error, Equatable, Sendable {
        /// FTP is not supported on this machine; the text is a sentence.
        case unavailable(String)
        /// The path cannot be written as an FTP command.
        case unspeakable
        /// The server refuses this user and password.
        case loginRefused(FTPSession.Reply)
        /// The server gave no verdict about the login.
        case loginFailed(FTPSession.Reply)
        /// The server refuses, temporarily (4xx) or permanently (5xx).
        case refused(FTPSession.Reply)
        case unreachable
        /// The server was silent for too long, at the start or later.
        case timedOut
        /// The server offers no TLS, which is required.
        case notSecured
        /// TLS was offered and failed; the text is libcurl's.
        case insecure(String)
        /// The connection broke, or the server's bytes were not FTP; the text is libcurl's.
        case broken(String)
        /// The client no longer needs the file.
        case cancelled
    }
}
