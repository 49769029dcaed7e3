import CGSSAPI
import Synchronization

/// The initiator's side of a login with one principal at one service, by SPNEGO with Kerberos (RFC 4178, RFC 4121). It
/// requests mutual authentication, and delegation only if `delegates` is true.
public final class InitiatingContext: Sendable {
    /// The result of one step.
    public enum Step: Sendable, Equatable {
        /// The token is for the service. Pass the service's answer to the next step.
        case `continue`([UInt8])
        /// The service is authenticated. There may be a last token for it.
        case established([UInt8]?)
    }

    private struct State {
        var context: gss_ctx_id_t?
        var credential: gss_cred_id_t?
        var target: gss_name_t?
        /// Whether the login has ended, successful or not.
        var isOver = false
    }

    private let tokens: SecurityTokens
    private let flags: OM_uint32
    private let channel: [UInt8]?
    private let state: Mutex<State>
    /// Retains the tickets as long as the login may need them.
    private let cache: TicketCache

    /// - Parameters:
    ///   - ticket: a ticket of the cache; no KDC is asked while it is valid.
    ///   - channel: the value that binds the login to its TLS connection (RFC 5056), with its unique prefix.
    public init(
        _ cache: TicketCache, to ticket: TicketCache.Ticket, delegates: Bool = false, channel: [UInt8]? = nil
    ) throws(GSSAPIError) {
        self.cache = cache
        self.channel = channel
        tokens = try SecurityTokens()
        var flags = OM_uint32(GSS_C_MUTUAL_FLAG)
        if delegates { flags |= OM_uint32(GSS_C_DELEG_FLAG) }
        if channel != nil { flags |= OM_uint32(GSS_C_CHANNEL_BOUND_FLAG) }
        self.flags = flags
        let credential = try tokens.credential("ccache", cache.name, usage: gss_cred_usage_t(GSS_C_INITIATE))
        let target: gss_name_t
        do throws(GSSAPIError) { target = try tokens.name(ticket.name) } catch {
            tokens.release(credential: credential)
            throw error
        }
        state = Mutex(State(credential: credential, target: target))
    }

    deinit {
        state.withLock { state in
            tokens.release(context: state.context)
            tokens.release(credential: state.credential)
            tokens.release(name: state.target)
        }
    }

    /// Performs the first step, or the one for a token of the service. If the ticket has expired, the first step blocks
    /// as long as a KDC takes. A step with a token asks no KDC.
    public func step(_ token: [UInt8]? = nil) throws(GSSAPIError) -> Step {
        try state.withLock { state throws(GSSAPIError) in
            // Bytes after the end, or an unexpected token, would begin another login.
            guard !state.isOver, token?.isEmpty != true, (token == nil) == (state.context == nil) else {
                throw GSSAPIError(.defectiveToken, "a token where none makes sense")
            }
            state.isOver = true
            var minor: OM_uint32 = 0
            var output = gss_buffer_desc()
            let spnego = gssapi_spnego()
            let major = SecurityTokens.withBindings(channel) { bindings in
                SecurityTokens.withBuffer(token ?? []) { input in
                    tokens.library.gss_init_sec_context(
                        &minor, state.credential, &state.context, state.target, spnego, flags, 0, bindings,
                        token == nil ? nil : input, nil, &output, nil, nil)
                }
            }
            let answer = tokens.take(&output)
            if gssapi_failed(major) {
                let fault: GSSAPIError.Fault = token == nil ? .unavailable : .refused
                let words = tokens.words(major, minor)
                throw GSSAPIError(SecurityTokens.isClockSkew(words) ? .clockSkew : fault, words)
            }
            guard gssapi_continues(major) else { return Step.established(answer) }
            guard let answer else { throw GSSAPIError(.defectiveToken, "the service says nothing to go on") }
            state.isOver = false
            return Step.continue(answer)
        }
    }
}
