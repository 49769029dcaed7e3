import Foundation
import IO

extension Process {
    /// As `run`. The loops of this process know meanwhile that the child has a copy of each of their descriptors.
    public func start() throws {
        try Descriptors.whileCopied { Result { try run() } }.get()
    }
}
