import Bytes
import IO

/// A copy of what was sent of a request body, so that it can be sent again after a challenge: in memory first, then in
/// an unlinked temporary file, then given up.
final class ReplayCopy {
    private enum Place {
        case memory
        case file(TemporaryFile)
        case givenUp
    }

    private let memory: ByteBuffer
    private let memoryLimit: Int
    private var diskLimit: Int
    private var place = Place.memory
    /// Bytes kept, in memory and in the file.
    private(set) var count = 0

    init(memoryLimit: Int, diskLimit: Int) {
        memory = ByteBuffer(capacity: min(memoryLimit, 16 * 1024))
        self.memoryLimit = memoryLimit
        self.diskLimit = diskLimit
    }

    /// Lets the file grow further than was said at first.
    func raise(disk: Int) { diskLimit = max(diskLimit, disk) }

    /// Whether everything that was added is still there.
    var isWhole: Bool {
        if case .givenUp = place { return false }
        return true
    }

    /// Whether so many bytes more can be kept, if the disk does not fail.
    func hasRoom(for added: Int) -> Bool { isWhole && added <= memoryLimit + diskLimit - count }

    /// Adds a piece of the body. Past the limits, or when the disk fails, the copy is given up.
    func add(_ buffer: ByteBuffer, count added: Int) async {
        switch place {
        case .givenUp: return
        case .memory:
            let kept = min(added, memoryLimit - memory.count)
            memory.append(buffer.readable.extracting(first: kept))
            count += kept
            if kept == added { return }
            guard diskLimit > 0, let file = TemporaryFile() else { return giveUp() }
            place = .file(file)
            await append(buffer.readable.extracting(kept..<added).array, to: file)
        case .file(let file):
            await append(buffer.readable.extracting(0..<added).array, to: file)
        }
    }

    private func append(_ bytes: [UInt8], to file: TemporaryFile) async {
        guard count - memory.count + bytes.count <= diskLimit, await file.append(bytes) else { return giveUp() }
        count += bytes.count
    }

    private func giveUp() {
        place = .givenUp
        memory.clear()
        count = 0
    }

    /// The next bytes from `offset` on, at most as many as fit into `buffer`. Nil when they cannot be read back.
    func read(from offset: Int, into buffer: ByteBuffer) async -> Int? {
        guard isWhole, offset < count else { return nil }
        let memory = memory
        if offset < memory.count {
            let end = min(memory.count, offset + buffer.writableCount)
            buffer.append(memory.readable.extracting(offset..<end))
            return end - offset
        }
        guard case .file(let file) = place,
            let bytes = await file.read(at: offset - memory.count, count: min(buffer.writableCount, count - offset))
        else { return nil }
        buffer.append(bytes)
        return bytes.count
    }
}
