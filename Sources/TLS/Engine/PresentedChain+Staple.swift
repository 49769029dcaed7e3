extension PresentedChain {
    /// The same chain with a response that came after it.
    func stapled(with response: [UInt8]?) -> PresentedChain {
        PresentedChain(leaf: leaf, others: others, staple: response, keyExchange: keyExchange)
    }
}
