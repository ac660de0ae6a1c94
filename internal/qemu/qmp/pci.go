package qmp

import (
	"context"
	"fmt"
)

// pciDevice is a device of query-pci, with those behind it when it is a bridge.
type pciDevice struct {
	ID       string `json:"qdev_id"`
	Bus      int    `json:"bus"`
	Slot     int    `json:"slot"`
	Function int    `json:"function"`
	Bridge   struct {
		Devices []pciDevice `json:"devices"`
	} `json:"pci_bridge"`
}

// PCIAddresses asks where the guest finds its PCI devices: device id -> the address as Linux writes it, such as
// "0000:00:05.0". Devices that were given no id are left out.
func (c *Client) PCIAddresses(ctx context.Context) (map[string]string, error) {
	var buses []struct {
		Devices []pciDevice `json:"devices"`
	}
	if err := c.Call(ctx, "query-pci", nil, &buses); err != nil {
		return nil, err
	}
	addresses := map[string]string{}
	for _, b := range buses {
		place(b.Devices, addresses)
	}
	return addresses, nil
}

func place(devices []pciDevice, addresses map[string]string) {
	for _, d := range devices {
		if d.ID != "" {
			addresses[d.ID] = fmt.Sprintf("0000:%02x:%02x.%x", d.Bus, d.Slot, d.Function)
		}
		place(d.Bridge.Devices, addresses)
	}
}
