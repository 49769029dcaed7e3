import Model
import TLS

extension TrustEvaluation: ChainEvaluation {
    public var kindsFound: TrustFindings { kinds }

    public func forgiving(_ allowed: TrustFindings, pins: [KeyPin]) -> ChainVerdict<VerifiedChain> {
        switch forgiving(allowed, pins: pins) as Outcome {
        case .trusted(let chain): return .trusted(chain)
        case .refused(let left, let isOtherKey):
            return .refused(left: TrustFindings(left.map(\.kind)), isOtherKey: isOtherKey)
        }
    }
}
