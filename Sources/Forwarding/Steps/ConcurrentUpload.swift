import Bytes
import HTTP
import IO
import Transport
import Upstream

/// Sends the rest of a request's body while the response already arrives (RFC 9112 section 9.5). Examples are an echo,
/// and a server that responds early but reads on.
///
/// The events of the task that relays the response drive it; it does not wait itself. Only a copy that must be read
/// from disk gets its own task.
final class ConcurrentUpload: Wakeup.Companion {
    private enum State {
        /// Bytes are sent as they arrive. Becomes `.ended` or `.failed`.
        case underWay
        /// The upstream has the whole body. Final.
        case ended
        /// The rest of the body cannot be sent. Final.
        case failed(RequestBody.Failure)
        /// The rest of the body is not wanted. Final.
        case cancelled
    }

    private let body: RequestBody
    private let client: ByteStream
    private let upstream: ByteStream
    private let inbound: ByteBuffer
    private let wakeup: Wakeup
    private let loop: EventLoop
    /// The limit of a pause, on either side.
    private let idle: Milliseconds
    private var state = State.underWay
    private var isReadingBack = false
    /// Signals the end of reading back. Until then the file is in use, even if the task waits for nothing else.
    private let readBackEnd = Wakeup()
    /// Whether the last step stopped because the client had sent no more bytes.
    private(set) var awaitsClient = false

    /// Starts the upload; nil if nothing may be sent, because another protocol is spoken. The caller must end it.
    init?(of context: ForwardingContext) {
        guard context.exchange.upstream.head.status != .switchingProtocols,
            let upstream = context.exchange.upstream.stream
        else { return nil }
        body = context.exchange.body
        client = context.downstream.stream
        inbound = context.exchange.inbound
        self.upstream = upstream
        idle = context.idleLimit
        wakeup = context.downstream.wakeup
        loop = context.downstream.loop
        wakeup.companion = self
        advance()
    }

    private var isUnderWay: Bool {
        if case .underWay = state { true } else { false }
    }

    /// The reason why the upload failed; nil if it did not.
    var failure: RequestBody.Failure? {
        if case .failed(let failure) = state { failure } else { nil }
    }

    func wakeupSignalled() { advance() }

    /// The response is final: stop copying the body for a resend.
    func settle() {
        body.settle()
        advance()
    }

    /// Whether the upload is over: the body was sent, the upstream closed, or a side paused too long.
    var isFinished: Bool {
        // The response is read. A stream whose response has ended may go on; bytes on a connection are its end.
        !isUnderWay || upstream.hasInput() && !upstream.isSending || (try? upstream.check()) == nil
    }

    /// Stops the upload, if that needs no file.
    /// - Returns: false if `end` must do it.
    func endAtOnce() -> Bool {
        if isUnderWay { state = .cancelled }
        guard !isReadingBack, body.keepAtOnce() else { return false }
        wakeup.companion = nil
        return true
    }

    /// Stops the upload of an exchange that is over, if it was not stopped. The wake-up would keep it, and its streams.
    func abandon() {
        if isUnderWay { state = .cancelled }
        if wakeup.companion === self { wakeup.companion = nil }
    }

    /// Stops the upload.
    func end() async {
        if isUnderWay { state = .cancelled }
        while isReadingBack { await readBackEnd.wait() }
        wakeup.companion = nil
        await body.keep(inbound)
    }

    /// Sends what can be sent, without waiting.
    func advance() {
        guard isUnderWay, !isReadingBack else { return }
        var hasMoved = false
        var isBlocked = false
        while isUnderWay, !isBlocked {
            do throws(RequestBody.Failure) {
                switch try body.advance(from: client, to: upstream, inbound: inbound, on: loop) {
                case .moved: hasMoved = true
                case .ended: state = .ended
                case .awaitsClient:
                    awaitsClient = true
                    isBlocked = true
                case .awaitsUpstream:
                    awaitsClient = false
                    isBlocked = true
                // The copy's file is worth a wait only once it is known that no verdict will come.
                case .keeps: isBlocked = true
                case .readsBack:
                    readBack()
                    isBlocked = true
                }
            } catch { fail(error) }
        }
        guard hasMoved else { return }
        // A peer that sends or receives is alive; the direction does not matter.
        if !upstream.isClosed { upstream.setDeadline(after: idle) }
        client.setDeadline(after: idle)
    }

    private func fail(_ failure: RequestBody.Failure) {
        state = .failed(failure)
        switch failure {
        // The upstream may have sent the reason, or may still respond.
        case .upstream: break
        // The upstream sees the end of the body; it may respond to the part it has.
        case .client(.endOfStream): upstream.shutdownWrite()
        case .client, .invalid, .copyLost, .tooLarge, .crowdedOut: upstream.close()
        }
    }

    private func readBack() {
        isReadingBack = true
        let bound = LoopBound(self, to: loop)
        loop.spawn {
            let upload = bound.value
            let isRead = await upload.body.readBack()
            upload.isReadingBack = false
            if !isRead, upload.isUnderWay { upload.fail(.copyLost) }
            upload.readBackEnd.signal()
            upload.wakeup.signal()
        }
    }

    /// The cause of a response that broke off. If the origin waited for the client, or the proxy closed, the origin is
    /// not at fault.
    func cause(of failure: ExchangeFailure) -> ExchangeFailure {
        switch self.failure {
        case nil:
            guard awaitsClient, case .cutShort(.httpResponseTimeout, _) = failure else { return failure }
            return .cutShort(
                .httpRequestError, "the client stopped in the middle of its request, and the origin waited for the rest"
            )
        case .upstream?, .tooLarge?, .crowdedOut?: return failure
        case .client(.endOfStream)?:
            return .cutShort(.httpRequestError, "the client ended in the middle of its request")
        case .client?: return .clientLost
        case .invalid(let error)?: return .cutShort(error.proxyError, "\(error)")
        case .copyLost?:
            return .cutShort(.proxyInternalError, "the part of the request that was kept cannot be read back")
        }
    }
}
