import CGSSAPI
import Synchronization

/// A client's login at a service, by SPNEGO with Kerberos, or by Kerberos alone: the side that answers. One for each
/// login; its steps come one after the other.
public final class AcceptingContext: Sendable {
    /// What one step came to.
    public enum Step: Sendable, Equatable {
        /// The token goes to the client, whose answer is the next step's.
        case `continue`([UInt8])
        /// The client is who it says: the principal's full name. The token, if there is one, proves the service to it. The
        /// ticket holds for so many seconds more; nil: without end.
        case established(principal: String, token: [UInt8]?, lifetime: Int?)
    }

    private struct State {
        var context: gss_ctx_id_t?
        /// Whether it has come to its end, good or bad.
        var isOver = false
    }

    private let tokens: SecurityTokens
    private let credential: AcceptorCredential
    private let channel: [UInt8]?
    private let state = Mutex(State())

    /// - Parameter channel: what the client's TLS connection is known by, with its unique prefix (RFC 5056). A client that
    ///   says nothing of its channel is accepted nevertheless, one that names another is not.
    public init(_ credential: AcceptorCredential, channel: [UInt8]? = nil) throws(GSSAPIError) {
        tokens = try SecurityTokens()
        self.credential = credential
        self.channel = channel
    }

    deinit { state.withLock { tokens.release(context: $0.context) } }

    /// Looks at a client's token. Asks no KDC, but writes the file in which tokens are remembered against replay: never on
    /// a loop.
    ///
    /// - Throws: `.refused` when the ticket or the channel is no good or the token was seen before, `.defectiveToken` when
    ///   it is no token, or one of another mechanism; `.clockSkew` and `.unavailable` when nothing can be said about it.
    public func step(_ token: [UInt8]) throws(GSSAPIError) -> Step {
        let result: Result<Step, GSSAPIError> = state.withLock { state in
            // Without a token the library would begin the talk itself.
            guard !token.isEmpty, !state.isOver else {
                return .failure(GSSAPIError(.defectiveToken, token.isEmpty ? "no token" : "a token behind the last"))
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
            if gssapi_failed(major) { return .failure(failure(major, minor)) }
            if gssapi_continues(major) {
                guard let answer else {
                    return .failure(GSSAPIError(.defectiveToken, "the client says nothing to go on"))
                }
                state.isOver = false
                return .success(.continue(answer))
            }
            guard let principal = principal(client) else {
                return .failure(GSSAPIError(.refused, "the client has no name"))
            }
            // GSS_C_INDEFINITE (RFC 2744 section 3.15) is the highest number.
            let seconds = lifetime == .max ? nil : Int(lifetime)
            return .success(.established(principal: principal, token: answer, lifetime: seconds))
        }
        return try result.get()
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
        // Where tokens are remembered is our own business. Its failures have the system's numbers, and name the file.
        if words.contains("rcache") || words.contains("replay cache") { return GSSAPIError(.unavailable, words) }
        if SecurityTokens.isClockSkew(words) { return GSSAPIError(.clockSkew, words) }
        switch gssapi_routine_error(major) {
        // The last comes for a mechanism that there is no key for.
        case OM_uint32(gssapi_status_defective_token), OM_uint32(gssapi_status_bad_mechanism),
            OM_uint32(gssapi_status_no_credential):
            return GSSAPIError(.defectiveToken, words)
        default: return GSSAPIError(.refused, words)
        }
    }
}
