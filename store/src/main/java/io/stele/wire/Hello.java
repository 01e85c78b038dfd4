package io.stele.wire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/**
 * What each side says first on a data plane connection, before any frame.
 *
 * <pre>
 *   hello          = magic version authentication
 *   magic          : u32, "STEL"
 *   version        : u16, of frames and headers; the server refuses any but its own
 *   authentication : u16, 0: none
 * </pre>
 *
 * <p>The client speaks first; a server of another version answers with its own hello, so that the
 * client can say what it met, and closes.
 *
 * <p>Authentication by token has its place here: a client with a token will send 1, the token's
 * identifier and a nonce; the server answers with its own nonce and proof that it knows the token's
 * key, then the client with its own. All of it is made and checked here, so that frames need not
 * know.
 *
 * @param magic what tells our protocol from another
 * @param version of the sender
 * @param authentication the way of authentication asked for
 */
record Hello(int magic, int version, int authentication) {
  static final int BYTES = 8;
  static final Hello OURS = new Hello(0x5354454c, 1, 0);

  static Hello read(ByteBuf in) {
    return new Hello(in.readInt(), in.readUnsignedShort(), in.readUnsignedShort());
  }

  ByteBuf encode(ByteBufAllocator allocator) {
    return allocator.buffer(BYTES).writeInt(magic).writeShort(version).writeShort(authentication);
  }

  /** Whether the sender speaks our protocol at all. */
  boolean isStele() {
    return magic == OURS.magic;
  }
}
