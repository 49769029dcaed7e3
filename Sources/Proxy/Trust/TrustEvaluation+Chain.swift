import Rules
import TLS

extension TrustEvaluation: ChainEvaluation {
    var kindsFound: TrustFindings { TrustFindings(kinds) }

    func forgiving(_ allowed: TrustFindings, pins: [KeyPin]) -> ChainVerdict<VerifiedChain> {
        let pins = pins.compactMap { PublicKeyPin($0.description) }
        switch forgiving(Set(allowed), pins: pins) as Decision {
        case .trusted(let chain): return .trusted(chain)
        case .refused(let left, let isOtherKey):
            return .refused(left: TrustFindings(left.map(\.kind)), isOtherKey: isOtherKey)
        }
    }
}
