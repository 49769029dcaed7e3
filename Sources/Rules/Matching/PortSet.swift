/// A set of ports and port ranges.
public struct PortSet: Hashable, Sendable, CustomStringConvertible {
    public let ranges: [ClosedRange<UInt16>]

    public static let any = PortSet(ranges: [0...UInt16.max])

    public func contains(_ port: UInt16) -> Bool {
        for range in ranges where range.contains(port) { return true }
        return false
    }

    func union(_ other: PortSet) -> PortSet {
        if covers(other) { return self }
        return other.covers(self) ? other : PortSet(ranges: ranges + other.ranges.filter { !ranges.contains($0) })
    }

    func covers(_ other: PortSet) -> Bool {
        other.ranges.allSatisfy { inner in
            ranges.contains { $0.lowerBound <= inner.lowerBound && $0.upperBound >= inner.upperBound }
        }
    }

    public var description: String {
        if self == .any { return "any" }
        return ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            .joined(separator: " ")
    }
}
