#include "peers.h"

#include "transactions.h"

namespace sim {

void PeerTraffic::take(const PartOfRequest& part, const Cost& cost)
{
    PeerCounts& with = window_.peers[size_t(static_cast<const Allocation&>(*part.array).device)];
    const bool loads = kind_of(part.request.site) == load;
    (loads ? with.loads : with.stores) += 1;
    (loads ? with.loaded : with.stored) += cost.transactions->bytes;
    (loads ? with.asked_loaded : with.asked_stored) += cost.asked;
    window_.any_peers = true;
}

}  // namespace sim
