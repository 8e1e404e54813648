import type { enProducts } from './en-products.js';

export const idProducts: Record<keyof typeof enProducts, string> = {
  products: 'Produk',
  noProduct: 'Tidak ada produk yang cocok.',
  codeBeginsWith: 'Kode diawali',
  nextProducts: 'Produk berikutnya',
  name: 'Nama',
  category: 'Kategori',
  operatorOf: 'Operator',
  cutOff: 'Tidak dijual dari, sampai',
  offers: 'Penawaran',
  noOffer: 'Tidak ada yang menawarkannya.',
  left: 'Sisa untuk penjual',
  leftWhat: 'Harga − komisi kita − yang diminta provider. Di bawah 0, setiap penjualan merugi.',
  isOwner: 'pembuatnya',
  providerSays: 'Provider-nya',
  available: 'memilikinya',
  unavailable: 'tidak memilikinya',
  sold_active: 'dijual',
  sold_inactive: 'tidak dijual',
  sold_maintenance: 'gangguan',
  setOffer: 'Ubah penawaran {seller}',
  setOfferWhat: 'Berlaku untuk pembelian berikutnya. Yang sudah diterima tetap pada harganya.',
  setOwnOfferWhat:
    'Berlaku untuk pembelian berikutnya. Yang sudah diterima tetap pada harganya. {seller} membuat produk ini: saat gangguan atau tidak dijual, tidak ada yang menjualnya.',
  belowCost: 'Juga bila setiap penjualan merugi',
  changesOfProduct: 'Siapa yang mengubahnya, dan kapan',
};
