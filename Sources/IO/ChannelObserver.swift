/// Told of a channel's events, before the task is woken that uses it.
public protocol ChannelObserver: AnyObject {
    func channelChanged(_ channel: Channel)
}
