import Glibc
import IO
import TLS

extension Socket: RecordTransport {
    public func read(into room: inout MutableRawSpan) -> RecordTransfer {
        // The number of a closed descriptor may already be reused.
        isClosed ? .failed(errno: EBADF) : RecordTransfer(tryRead(into: &room))
    }

    public func write(_ bytes: RawSpan) -> RecordTransfer {
        isClosed ? .failed(errno: EBADF) : RecordTransfer(tryWrite(bytes))
    }
}

extension RecordTransfer {
    init(_ transfer: Transfer) {
        self =
            switch transfer {
            case .moved(let count): .moved(count)
            case .endOfStream: .endOfStream
            case .wouldBlock: .wouldBlock
            case .failed(let errno): .failed(errno: errno)
            }
    }
}

extension Transfer {
    init(_ transfer: RecordTransfer) {
        self =
            switch transfer {
            case .moved(let count): .moved(count)
            case .endOfStream: .endOfStream
            case .wouldBlock: .wouldBlock
            case .failed(let errno): .failed(errno: errno)
            }
    }
}
