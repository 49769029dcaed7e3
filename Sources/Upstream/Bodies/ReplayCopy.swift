import Bytes
import IO

/// A copy of the sent part of a request body, so that it can be sent again after a challenge. Or a copy of the part of
/// a response that is read before it is passed on. It is kept in memory first, then in an unlinked temporary file, then
/// it is given up.
public final class ReplayCopy {
    private enum Place {
        case memory
        case file(TemporaryFile)
        case givenUp
    }

    private let memory: ByteBuffer
    private let room: ReplayRoom
    private var place = Place.memory
    /// The bytes reserved from the total that all bodies share, whether they have arrived yet or not.
    private var taken = 0
    /// The bytes kept, in memory and in the file.
    public private(set) var count = 0
    /// Whether the room was refused because other bodies use it.
    public private(set) var wasCrowdedOut = false

    public init(in room: ReplayRoom) {
        memory = ByteBuffer(capacity: min(room.memory, 16 * 1024))
        self.room = room
    }

    deinit { room.spool.give(taken) }

    /// Whether everything that was added is still there.
    public var isWhole: Bool {
        if case .givenUp = place { return false }
        return true
    }

    /// Reserves room for this many more bytes. False if the limits leave no room. A full disk can still fail later.
    public func makeRoom(for added: Int) -> Bool {
        guard isWhole, added <= room.memory + room.disk - count else { return false }
        let missing = count + added - room.free - taken
        if missing <= 0 { return true }
        guard room.spool.take(missing, of: room.total) else {
            // A body that asks again in smaller pieces is counted once.
            if !wasCrowdedOut { room.spool.noteRefusal() }
            wasCrowdedOut = true
            return false
        }
        taken += missing
        return true
    }

    /// Adds a piece of the body, if memory has room for it.
    /// - Returns: false if nothing was added, because the file is needed or the copy was given up.
    public func addAtOnce(_ buffer: ByteBuffer, count added: Int) -> Bool {
        guard case .memory = place, added <= room.memory - memory.count else { return false }
        memory.append(buffer.readable.extracting(first: added))
        count += added
        return true
    }

    /// Adds a piece of the body. Gives the copy up past the limits, or when the disk fails.
    public func add(_ buffer: ByteBuffer, count added: Int) async {
        switch place {
        case .givenUp: return
        case .memory:
            let kept = min(added, room.memory - memory.count)
            memory.append(buffer.readable.extracting(first: kept))
            count += kept
            if kept == added { return }
            guard makeRoom(for: added - kept), let file = TemporaryFile() else { return giveUp() }
            place = .file(file)
            await append(buffer.readable.extracting(kept..<added).array, to: file)
        case .file(let file):
            guard makeRoom(for: added) else { return giveUp() }
            await append(buffer.readable.extracting(0..<added).array, to: file)
        }
    }

    private func append(_ bytes: [UInt8], to file: TemporaryFile) async {
        guard await file.append(bytes) else { return giveUp() }
        count += bytes.count
    }

    private func giveUp() {
        place = .givenUp
        memory.clear()
        count = 0
        room.spool.give(taken)
        taken = 0
    }

    /// Reads the next bytes from `offset` on, at most as many as fit into `buffer`. Nil when they cannot be read back.
    public func read(from offset: Int, into buffer: ByteBuffer) async -> Int? {
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
