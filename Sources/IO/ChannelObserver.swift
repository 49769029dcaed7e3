/// Told of events on a channel that no task is using.
public protocol ChannelObserver: AnyObject {
    func channelChanged(_ channel: Channel)
}
