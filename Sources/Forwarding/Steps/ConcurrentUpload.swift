import Bytes
import HTTP
import IO
import Transport
import Upstream

/// The rest of a request's body on its way upstream while the response is on its way back already (RFC 9112 section
/// 9.5): an echo, or a server that says early what it thinks, goes on reading.
///
/// It is driven by the events of the task that relays the response, and takes no part in that task's waits. Only a copy
/// that has to be read from disk gets a task of its own.
final class ConcurrentUpload: WakeupCompanion {
    private enum State {
        /// Bytes go as they come. Becomes `.ended` or `.failed`.
        case underWay
        /// The upstream has all of it. Stays.
        case ended
        /// No more of it will go. Stays.
        case failed(RequestBody.Failure)
        /// Nobody wants more of it. Stays.
        case cancelled
    }

    private let body: RequestBody
    private let client: ByteStream
    private let upstream: ByteStream
    private let inbound: ByteBuffer
    private let wakeup: Wakeup
    private let loop: EventLoop
    /// Milliseconds that a side may rest, on either way.
    private let idle: Int
    private var state = State.underWay
    private var isReadingBack = false
    /// The file is in use until then, also when the task is not to wait for anything else any more.
    private let readBackEnd = Wakeup()
    /// The last step came to its end for want of bytes from the client.
    private(set) var awaitsClient = false

    /// Begins at once; nil where nothing more may be sent, since another protocol is spoken. Whoever begins it ends it.
    init?(of context: ForwardingContext) {
        guard context.exchange.upstream.head.status != .switchingProtocols,
            let upstream = context.exchange.upstream.stream
        else { return nil }
        body = context.exchange.body
        client = context.requester.stream
        inbound = context.exchange.inbound
        self.upstream = upstream
        idle = context.policy.timeouts.idle
        wakeup = context.requester.wakeup
        loop = context.requester.loop
        wakeup.companion = self
        advance()
    }

    /// Has the rest of the body go on beside the response, if there is any.
    @inline(__always)
    static func beginRest(_ context: ForwardingContext) -> ConcurrentUpload? {
        context.exchange.body.mayGoOn ? ConcurrentUpload(of: context) : nil
    }

    private var isUnderWay: Bool {
        if case .underWay = state { true } else { false }
    }

    /// Why no more of the body will go; nil where nothing is wrong with it.
    var failure: RequestBody.Failure? {
        if case .failed(let failure) = state { failure } else { nil }
    }

    func wakeupSignalled() { advance() }

    /// The response is the one that the client gets: a copy of the body is of no use any more.
    func settle() {
        body.settle()
        advance()
    }

    /// Whether the body has gone, or will not: the upstream has closed, or a side rested.
    var isFinished: Bool { !isUnderWay || upstream.hasInput() || (try? upstream.check()) == nil }

    /// Leaves the body as it is, if that needs no file.
    /// - Returns: false when `end` has to do it.
    func endAtOnce() -> Bool {
        if isUnderWay { state = .cancelled }
        guard !isReadingBack, body.keepAtOnce() else { return false }
        wakeup.companion = nil
        return true
    }

    /// Leaves the body as it is.
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
                // The copy's file is worth a wait only once it is known that there will be no verdict.
                case .keeps: isBlocked = true
                case .readsBack:
                    readBack()
                    isBlocked = true
                }
            } catch { fail(error) }
        }
        guard hasMoved else { return }
        // A peer that gives or takes is alive, whatever it does in the other direction.
        if !upstream.isClosed { upstream.setDeadline(after: idle) }
        client.setDeadline(after: idle)
    }

    private func fail(_ failure: RequestBody.Failure) {
        state = .failed(failure)
        switch failure {
        // It may have said why, or go on answering.
        case .upstream: break
        // It is told that no more comes; it may answer to what it has.
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
}

extension ConcurrentUpload {
    /// Why the response broke off: where the origin waited for the client, or the proxy closed, it is not the origin's fault.
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
