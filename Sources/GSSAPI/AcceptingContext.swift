import Bytes
import CGSSAPI
import Synchronization

/// The acceptor's side of a client's login at a service, by SPNEGO with Kerberos, or by Kerberos alone. One for each
/// login; its steps follow each other.
public final class AcceptingContext: Sendable {
    /// The result of one step.
    public enum Step: Sendable, Equatable {
        /// The token is for the client. Pass the client's answer to the next step.
        case `continue`([UInt8])
        /// The client is authenticated as this principal, by its full name. The token, if there is one, authenticates
        /// the service to the client. The ticket is valid for this time; nil: without limit.
        case established(principal: String, token: [UInt8]?, lifetime: Milliseconds?)
    }

    private struct State {
        var context: gss_ctx_id_t?
        /// Whether the login has ended, successful or not.
        var isOver = false
    }

    private let tokens: SecurityTokens
    private let credential: Credential
    private let channel: [UInt8]?
    private let state = Mutex(State())

    /// - Parameter channel: the binding of the client's TLS connection, with its unique prefix (RFC 5056). A client
    ///   that sends no binding is accepted; a client that sends another one is refused.
    public init(_ credential: Credential, channel: [UInt8]? = nil) throws(GSSAPIError) {
        tokens = try SecurityTokens()
        self.credential = credential
        self.channel = channel
    }

    deinit { state.withLock { tokens.release(context: $0.context) } }

    /// Processes a client's token. It asks no KDC, but writes the replay cache file: do not call it on a loop.
    ///
    /// - Throws: `.refused` if the ticket or the channel is invalid or the token was seen before; `.defectiveToken` if
    ///   the bytes are not a token, or one of another mechanism; `.clockSkew` and `.unavailable` if the token could not
    ///   be judged.
    public func step(_ token: [UInt8]) throws(GSSAPIError) -> Step {
        try state.withLock { state throws(GSSAPIError) in
            // Without a token the library would begin a login itself.
            guard !token.isEmpty, !state.isOver else {
                throw GSSAPIError(.defectiveToken, token.isEmpty ? "no token" : "a token behind the last")
            }
            state.isOver = true
            var minor: OM_uint32 = 0
            var output = gss_buffer_desc()
            var client: gss_name_t?
            var lifetime: OM_uint32 = 0
            let major = SecurityTokens.withBindings(channel) { bindings in
                SecurityTokens.withBuffer(token) { input in
                    tokens.library.gss_accept_sec_context(
                        &minor, &state.context, credential.handle, input, bindings, &client, nil, &output, nil,
                        &lifetime, nil)
                }
            }
            defer { tokens.release(name: client) }
            let answer = tokens.take(&output)
            if gssapi_failed(major) { throw failure(major, minor) }
            if gssapi_continues(major) {
                guard let answer else { throw GSSAPIError(.defectiveToken, "the client says nothing to go on") }
                state.isOver = false
                return Step.continue(answer)
            }
            guard let principal = principal(client) else { throw GSSAPIError(.refused, "the client has no name") }
            // GSS_C_INDEFINITE (RFC 2744 section 3.15) is the largest number.
            let time = lifetime == .max ? nil : Milliseconds.seconds(Int(lifetime))
            return Step.established(principal: principal, token: answer, lifetime: time)
        }
    }

    private func principal(_ client: gss_name_t?) -> String? {
        var minor: OM_uint32 = 0
        var text = gss_buffer_desc()
        let major = tokens.library.gss_display_name(&minor, client, &text, nil)
        guard !gssapi_failed(major), let bytes = tokens.take(&text) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private func failure(_ major: OM_uint32, _ minor: OM_uint32) -> GSSAPIError {
        let words = tokens.words(major, minor)
        // A failure of the replay cache is local. Such failures have numbers of the system, and name the file.
        if words.contains("rcache") || words.contains("replay cache") { return GSSAPIError(.unavailable, words) }
        if SecurityTokens.isClockSkew(words) { return GSSAPIError(.clockSkew, words) }
        switch gssapi_routine_error(major) {
        // The last status means a mechanism without a key.
        case OM_uint32(gssapi_status_defective_token), OM_uint32(gssapi_status_bad_mechanism),
            OM_uint32(gssapi_status_no_credential):
            return GSSAPIError(.defectiveToken, words)
        default: return GSSAPIError(.refused, words)
        }
    }

    /// The keys of a service, from a keytab, which accept the logins of its clients. Shared by all logins.
    public final class Credential: Sendable {
        /// The bits of the pointer. The library locks the object itself.
        private let bits: UInt
        private let tokens: SecurityTokens

        /// Reads the keytab. Its file is not used afterwards. Blocks. Create a new credential when the file has
        /// changed.
        ///
        /// - Parameter service: the service of clients' tickets, on any host: `HTTP` for Negotiate (RFC 4559 section
        ///   4.1). Keys of other services in the keytab accept no logins.
        public init(keytab path: String, service: String = "HTTP") throws(GSSAPIError) {
            let tokens = try SecurityTokens()
            do throws(GSSAPIError) {
                let keys = try AcceptingContext.MemoryKeytab(copying: path, of: service)
                let credential = try tokens.credential("keytab", keys.name, usage: gss_cred_usage_t(GSS_C_ACCEPT))
                bits = UInt(bitPattern: credential)
            } catch { throw GSSAPIError(.unavailable, "the keytab \(path) cannot be used: \(error)") }
            self.tokens = tokens
        }

        deinit { tokens.release(credential: handle) }

        var handle: gss_cred_id_t? { gss_cred_id_t(bitPattern: bits) }
    }

    /// The keys of one service from a keytab file, in memory: a file that is being written, or is gone, does no harm. They
    /// last as long as this object or a credential made with it.
    fileprivate final class MemoryKeytab {
        /// The name for GSSAPI's credential store.
        let name: String
        private let context: KerberosContext
        private let handle: krb5_keytab

        private static let count = Atomic(0)

        /// Copies the keys. Blocks.
        ///
        /// - Throws: also for a file without a key of the service.
        init(copying path: String, of service: String) throws(GSSAPIError) {
            let context = try KerberosContext()
            let library = context.library
            let name = "MEMORY:attache.\(Self.count.add(1, ordering: .relaxed).newValue)"
            var file: krb5_keytab?
            try context.require(library.krb5_kt_resolve(context.handle, "FILE:\(path)", &file), "its name is of no use")
            defer { _ = library.krb5_kt_close(context.handle, file) }
            var made: krb5_keytab?
            let code = library.krb5_kt_resolve(context.handle, name, &made)
            guard code == 0, let made else {
                throw GSSAPIError(.unavailable, "its keys cannot be kept: \(context.words(for: code))")
            }
            (self.context, self.name, handle) = (context, name, made)
            try copy(from: file, of: service)
        }

        deinit { _ = context.library.krb5_kt_close(context.handle, handle) }

        private func copy(from file: krb5_keytab?, of service: String) throws(GSSAPIError) {
            let library = context.library
            var cursor: krb5_kt_cursor?
            try context.require(library.krb5_kt_start_seq_get(context.handle, file, &cursor), "it cannot be read")
            defer { _ = library.krb5_kt_end_seq_get(context.handle, file, &cursor) }
            var (count, total) = (0, 0)
            while true {
                var entry = krb5_keytab_entry()
                let code = library.krb5_kt_next_entry(context.handle, file, &entry, &cursor)
                if Int(code) == Int(KRB5_KT_END) { break }
                try context.require(code, "it cannot be read")
                defer { _ = library.krb5_free_keytab_entry_contents(context.handle, &entry) }
                total += 1
                guard Self.isPrincipal(entry.principal, of: service) else { continue }
                try context.require(
                    library.krb5_kt_add_entry(context.handle, handle, &entry), "its keys cannot be kept")
                count += 1
            }
            guard count > 0 else {
                throw GSSAPIError(
                    .unavailable, total == 0 ? "it has no keys" : "it has no key of a service \(service)/…")
            }
        }

        /// Whether the principal is `SERVICE/HOST`, in any realm.
        private static func isPrincipal(_ principal: krb5_principal?, of service: String) -> Bool {
            guard let principal, principal.pointee.length == 2, let name = principal.pointee.data,
                let text = name.pointee.data
            else { return false }
            let length = Int(name.pointee.length)
            return text.withMemoryRebound(to: UInt8.self, capacity: length) {
                UnsafeBufferPointer(start: $0, count: length).elementsEqual(service.utf8)
            }
        }
    }
}
